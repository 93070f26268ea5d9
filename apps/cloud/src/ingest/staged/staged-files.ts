/** Names and contents of the files of staged uploads. */
import { readdir, readFile, stat } from 'node:fs/promises';

/** Declared size of the whole upload; undefined if it was not recorded. */
export async function declaredSize(path: string): Promise<number | undefined> {
  const text = await readFile(sizePath(path), 'utf8').catch(() => '');
  return /^\d+$/.test(text) ? Number(text) : undefined;
}

export function sizePath(path: string): string {
  return path.replace(/\.part$/, '.size');
}

export function donePath(path: string): string {
  return path.replace(/\.part$/, '.done');
}

export async function sizeOf(path: string): Promise<number | undefined> {
  return (await stat(path).catch(() => undefined))?.size;
}

export async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch(() => []);
}
