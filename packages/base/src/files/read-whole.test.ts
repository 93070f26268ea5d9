import fs from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { temporaryDirectory } from '@platform/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { readWhole } from './read-whole.ts';

test('a file is read to its end, also where each read gives three bytes', async () => {
  await using directory = await temporaryDirectory();
  const path = directory.file('state.json');
  await writeFile(path, '{"position":12345}');
  const { read } = fs;
  onTestFinished(() => {
    fs.read = read;
  });
  const short = (fd: number, into: Buffer, offset: number, length: number, at: number | null, done: never): void =>
    read(fd, into, offset, Math.min(length, 3), at, done);
  fs.read = short as typeof read;
  expect((await readWhole(path)).toString()).toBe('{"position":12345}');
});

test('a missing file is named as the system does', async () => {
  await expect(readWhole('/nowhere/state.json')).rejects.toMatchObject({ code: 'ENOENT' });
});
