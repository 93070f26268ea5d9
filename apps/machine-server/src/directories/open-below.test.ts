import { writeFile } from 'node:fs/promises';
import { fileTurns } from '@platform/base';
import { temporaryDirectory } from '@platform/testkit';
import { expect, test } from 'vitest';
import { readBelow } from './open-below.ts';

test('files of cameras that do not answer hold up no file in a configured folder', async () => {
  await using directory = await temporaryDirectory();
  await writeFile(directory.file('a.capture'), 'readings');
  const stuck = Promise.withResolvers<void>();
  const reading = ['1.jpg', '2.jpg', '3.jpg', '4.jpg'].map((path) => fileTurns.run(path, () => stuck.promise));
  const read = await readBelow(directory.file('a.capture'), directory.path);
  expect(Buffer.from(read).toString()).toBe('readings');
  stuck.resolve();
  await Promise.all(reading);
});
