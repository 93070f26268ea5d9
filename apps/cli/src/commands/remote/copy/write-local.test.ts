import { mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import type { CopiedFile } from '@platform/sdk/machine';
import { temporaryDirectory } from '@platform/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { targetOf, writeLocal } from './write-local.ts';

async function directory() {
  const made = await temporaryDirectory();
  onTestFinished(() => made[Symbol.asyncDispose]());
  return made;
}

async function* pieces(...texts: readonly (string | Error)[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) {
    if (text instanceof Error) throw text;
    yield Buffer.from(text);
  }
}

const folder = (path: readonly string[], mode = 0o755): CopiedFile => ({
  ...{ path, mode, isFolder: true, size: 0, modifiedMs: 5_000, content: pieces() },
});
const file = (path: readonly string[], ...texts: readonly (string | Error)[]): CopiedFile => ({
  ...{ path, mode: 0o640, isFolder: false, size: 0, modifiedMs: 5_000, content: pieces(...texts) },
});

async function* sent(...files: readonly CopiedFile[]): AsyncGenerator<CopiedFile> {
  yield* files;
}

const quiet = (): void => {};

test('a folder arrives with modes and times, also one whose mode allows no files; what was there is merged', async () => {
  const { file: at } = await directory();
  await mkdir(at('t'));
  await writeFile(at('t/old'), 'old');
  const files = sent(folder([]), folder(['ro'], 0o555), file(['ro', 'a'], 'one ', 'two'));
  expect(await writeLocal(files, at('t'), quiet)).toEqual({ files: 1, bytes: 7 });
  expect((await readdir(at('t'))).toSorted()).toEqual(['old', 'ro']);
  expect(await readFile(at('t/ro/a'), 'utf8')).toBe('one two');
  const { mode, mtimeMs } = await stat(at('t/ro'));
  expect([mode & 0o777, mtimeMs, (await stat(at('t/ro/a'))).mode & 0o777]).toEqual([0o555, 5_000, 0o640]);
  expect([await targetOf(at('t'), 'x'), await targetOf(at('none'), 'x'), await targetOf(at('t'), undefined)]).toEqual([
    ...[at('t/x'), at('none'), at('t')],
  ]);
});

test('below what is copied no link is followed: one to a folder is refused, one to a file is replaced', async () => {
  const { file: at } = await directory();
  await mkdir(at('outside'));
  await writeFile(at('outside/secret'), 'mine');
  await mkdir(at('t'));
  await symlink(at('outside'), at('t/folder'));
  await symlink(at('outside/secret'), at('t/link'));
  for (const files of [[folder(['folder'])], [file(['folder', 'secret'], 'theirs')]])
    await expect(writeLocal(sent(folder([]), ...files), at('t'), quiet)).rejects.toThrow('found a link');
  await writeLocal(sent(folder([]), file(['link'], 'theirs')), at('t'), quiet);
  expect([await readFile(at('outside/secret'), 'utf8'), await readFile(at('t/link'), 'utf8')]).toEqual([
    'mine',
    'theirs',
  ]);
});

test('a file that breaks off leaves what was there, and nothing else', async () => {
  const { path, file: at } = await directory();
  await writeFile(at('a'), 'old');
  await expect(writeLocal(sent(file([], 'ne', new Error('gone'))), at('a'), quiet)).rejects.toThrow('gone');
  expect([await readdir(path), await readFile(at('a'), 'utf8')]).toEqual([['a'], 'old']);
  const missing = writeLocal(sent(file([], 'x')), at('none/a'), quiet);
  await expect(missing).rejects.toMatchObject({ code: 'not_found' });
});
