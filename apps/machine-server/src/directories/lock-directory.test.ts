import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { lockDirectory } from './lock-directory.ts';

test('I5 one process owns a capture directory: a second is refused by name, a stale lock is taken over', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'own-'));
  const owned = await lockDirectory(directory);
  await expect(lockDirectory(directory)).rejects.toThrow(new RegExp(`belongs to the running process ${process.pid}`));
  await owned[Symbol.asyncDispose]();
  for (const stale of ['999999999 1 boot', `${process.pid} 1 another-boot`, 'nonsense']) {
    await writeFile(join(directory, '.lock'), stale);
    await (await lockDirectory(directory))[Symbol.asyncDispose]();
  }
  expect(await readdir(directory)).toEqual([]);
  await rm(directory, { recursive: true });
});
