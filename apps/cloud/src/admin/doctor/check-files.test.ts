import { expect, test } from 'vitest';
import { counted, describeFiles } from './check-files.ts';

test('a single item is counted in the singular', () => {
  const found = { wrong: new Map(), unknown: 0, linked: 0 };
  expect(describeFiles({ ...found, files: 1 }, false)).toBe('1 file of readings, each with its size');
  expect(describeFiles({ ...found, files: 2 }, true)).toBe('2 files of readings, each with its checksum');
  expect([counted(0, 'deletion'), counted(1, 'deletion')]).toEqual(['0 deletions', '1 deletion']);
});
