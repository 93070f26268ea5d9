/** Names of the files of staged uploads, and what they say. */
import { readdir, readFile, stat } from 'node:fs/promises';

/** How long the whole upload is to be; undefined if that was not kept. */
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
