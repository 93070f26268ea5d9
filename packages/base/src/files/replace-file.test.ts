import { readdir, readFile, readlink, stat, symlink, writeFile } from 'node:fs/promises';
import { temporaryDirectory } from '@platform/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { replaceFile } from './replace-file.ts';

async function directory() {
  const made = await temporaryDirectory();
  onTestFinished(() => made[Symbol.asyncDispose]());
  return made;
}

test('a file has its name only when it is complete, with the mode of the file it replaces or the one given', async () => {
  const { path, file } = await directory();
  await writeFile(file('a'), 'old', { mode: 0o640 });
  const first = await replaceFile(file('a'), { followsLinks: true });
  await first.write(Buffer.from('ne'));
  const [temporary] = (await readdir(path)).filter((name) => name !== 'a');
  expect([await readFile(file('a'), 'utf8'), (await stat(file(temporary ?? ''))).mode & 0o777]).toEqual(['old', 0o600]);
  await first.write(Buffer.from('w'));
  await first.finish();
  expect([await readdir(path), await readFile(file('a'), 'utf8')]).toEqual([['a'], 'new']);
  expect((await stat(file('a'))).mode & 0o777).toBe(0o640);
  const second = await replaceFile(file('a'), { followsLinks: true });
  await second.finish({ mode: 0o4755, modifiedMs: 1_000_000 });
  const { mode, mtimeMs } = await stat(file('a'));
  expect([mode & 0o7777, mtimeMs]).toEqual([0o755, 1_000_000]);
  const third = await replaceFile(file('a'), { followsLinks: true });
  await third.discard();
  expect(await readdir(path)).toEqual(['a']);
});

test('a link stays or is replaced, as asked; a folder is refused', async () => {
  const { path, file } = await directory();
  await writeFile(file('real'), 'old');
  await symlink(file('real'), file('link'));
  const write = async (text: string, followsLinks: boolean): Promise<void> => {
    const made = await replaceFile(file('link'), { followsLinks });
    await made.write(Buffer.from(text));
    await made.finish();
  };
  await write('one', true);
  expect([await readFile(file('real'), 'utf8'), await readlink(file('link'))]).toEqual(['one', file('real')]);
  await write('two', false);
  expect([await readFile(file('real'), 'utf8'), await readFile(file('link'), 'utf8')]).toEqual(['one', 'two']);
  await expect(replaceFile(path, { followsLinks: true })).rejects.toThrow('expected a regular file, found a folder');
});
