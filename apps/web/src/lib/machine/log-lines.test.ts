import { create } from '@bufbuild/protobuf';
import { zapFields } from '@platform/base/zap-field';
import { LogEntrySchema } from '@platform/proto/platform/common/v1/common';
import { expect, test } from 'vitest';
import {
  barsOf,
  countsOf,
  fitsText,
  type LogLine,
  levelsOf,
  lineOf,
  linesAfter,
  patternProblem,
  sourcesIn,
  textOf,
} from './log-lines.ts';

const lines = [
  ['ERROR', 'sync', 'disk is full'],
  ['warning', 'sync', 'slow disk'],
  ['fatal', 'main', 'out of memory'],
  ['unheard', 'main', 'hello'],
].map(([level = '', loggerName = '', message = '']) => lineOf(create(LogEntrySchema, { level, loggerName, message })));

test('the levels of all servers are mapped to four, with their counts', () => {
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

test('what the cloud writes about triggers is told apart from its other lines and from those of the machine', () => {
  const written = [
    ['cloud', 'app.trigger.hot'],
    ['cloud', 'cloud.presence'],
    ['cloud', 'sync'],
    ['press-7', 'app.trigger.hot'],
  ].map(([host = '', loggerName = '']) => lineOf(create(LogEntrySchema, { host, loggerName })));
  expect(written.map(({ source }) => source)).toEqual(['triggers', 'cloud', 'machine', 'machine']);
  expect(sourcesIn(written)).toEqual(['machine', 'triggers', 'cloud']);
});

test('the text of a line has its fields as key=value, also those of Go loggers, except what the message contains', () => {
  const given = { error: 'no bus', attempts: 3, file: 'a.capture', deep: { a: 1 }, code: 'io' };
  const entry = create(LogEntrySchema, { message: 'a.capture is late', fields: zapFields(given) as never });
  const line = lineOf(entry);
  expect(line.fields).toEqual(given);
  expect(textOf(line)).toBe('a.capture is late error="no bus" attempts=3 deep={"a":1} code=io');
  expect([line].filter(fitsText('no bus'))).toHaveLength(1);
});

test('an invalid pattern is explained', () => {
  expect(patternProblem('/(/')).toContain('group');
  expect([patternProblem('/a+/'), patternProblem('('), patternProblem('')]).toEqual(['', '', '']);
});

test('levels in an address: all if there are none, only known ones otherwise', () => {
  expect(levelsOf(null)).toHaveLength(4);
  expect(levelsOf('warn,error,loud')).toEqual(['error', 'warn']);
  expect(levelsOf('none')).toEqual([]);
});

const at = (second: number, level: LogLine['level'] = 'info'): LogLine => ({
  ...{ time: new Date(second * 1_000), level, source: 'machine', logger: 'main', message: `line ${second}` },
  ...{ stack: '', fields: {} },
});
const seconds = (some: readonly LogLine[]): number[] => some.map(({ time }) => (time?.getTime() ?? 0) / 1_000);

test('after a break, the newest lines join those that are known, or replace them if lines are missing in between', () => {
  const known = [1, 2, 3, 4].map((second) => at(second));
  expect(seconds(linesAfter(known, [at(5)], false))).toEqual([1, 2, 3, 4, 5]);
  expect(seconds(linesAfter(known, [at(3), at(4), at(6)], true))).toEqual([1, 2, 3, 4, 6]);
  expect(seconds(linesAfter(known, [at(8), at(9)], true))).toEqual([8, 9]);
});

test('bars count all lines over time, with their errors and first lines', () => {
  const bars = barsOf([at(0), at(1, 'error'), at(2), at(9), at(10)], 5);
  expect(bars.map(({ lines: count }) => count)).toEqual([2, 1, 0, 0, 2]);
  expect(bars[0]).toMatchObject({ errors: 1, first: 0 });
  expect(bars[4]).toMatchObject({ errors: 0, first: 3 });
  expect(barsOf([at(1)], 5)).toEqual([]);
});
