import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { temporaryDirectory } from '@platform/testkit';
import { expect, test } from 'vitest';
import { keepNewest } from './keep-newest.ts';

test('a build is named after its content, and only the newest of the earlier builds is kept', async () => {
  await using directory = await temporaryDirectory();
  const build = async (text: string, atS: number): Promise<string> => {
    const path = directory.file('next');
    await mkdir(`${path}/assets`, { recursive: true });
    await writeFile(`${path}/assets/module.mjs`, text);
    await utimes(path, atS, atS);
    return basename(await keepNewest(path));
  };
  const names = [await build('one', 1), await build('two', 2), await build('three', 3)] as const;
  expect(new Set(names).size).toBe(3);
  expect((await readdir(directory.path)).toSorted()).toEqual([names[1], names[2]].toSorted());
  expect(await build('three', 4)).toBe(names[2]);
  expect((await readdir(directory.path)).toSorted()).toEqual([names[1], names[2]].toSorted());
});
