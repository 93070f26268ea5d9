import { create } from '@bufbuild/protobuf';
import { LogEntrySchema } from '@platform/proto/platform/common/v1/common';
import { expect, test } from 'vitest';
import { countsOf, fitsText, lineOf } from './log-lines.ts';

const lines = [
  ['ERROR', 'sync', 'disk is full'],
  ['warning', 'sync', 'slow disk'],
  ['fatal', 'main', 'out of memory'],
  ['unheard', 'main', 'hello'],
].map(([level = '', loggerName = '', message = '']) => lineOf(create(LogEntrySchema, { level, loggerName, message })));

test('levels of all servers become four, with their counts', () => {
  expect(countsOf(lines)).toEqual({ error: 2, warn: 1, info: 1, debug: 0 });
});

test.each([
  ['disk', 2],
  ['MAIN', 2],
  ['/^slow/', 1],
  ['/(/', 0],
  ['', 4],
])('%j finds %i lines', (text, count) => {
  expect(lines.filter(fitsText(text))).toHaveLength(count);
});
