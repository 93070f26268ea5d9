import { expect, test } from 'vitest';
import { chartOf } from './chart.ts';
import { cellText, columnsOf, flatten } from './flatten.ts';
import { stagesOf } from './pipeline.ts';

const chart = (rows: readonly Record<string, unknown>[]): ReturnType<typeof chartOf> => {
  const flat = rows.map((row) => flatten(row));
  return chartOf(flat, columnsOf(flat, 100));
};

test('a time and numbers become lines, sorted by time, with gaps where a number is missing', () => {
  expect(
    chart([
      { at: '2026-01-01T00:00:02Z', data: { t: 2 } },
      { at: '2026-01-01T00:00:01Z', data: { t: 1, u: 5 } },
    ]),
  ).toEqual({
    kind: 'lines',
    x: [1_767_225_601, 1_767_225_602],
    series: [
      { name: 'data.t', values: [1, 2] },
      { name: 'data.u', values: [5, null] },
    ],
  });
});

test('a name and a number become bars, one number a big number, and text alone no chart', () => {
  expect(
    chart([
      { _id: 'host', n: 3 },
      { _id: 'oven', n: 4 },
    ]),
  ).toMatchObject({ kind: 'bars', name: 'n' });
  expect(chart([{ n: 3 }])).toEqual({ kind: 'number', name: 'n', value: 3 });
  expect(chart([{ name: 'host' }]).kind).toBe('none');
  expect(chart([]).kind).toBe('none');
});

test('a text that is not a pipeline is refused in words', () => {
  expect(stagesOf('[{"$limit": 1}]')).toEqual([{ $limit: 1 }]);
  expect(() => stagesOf('{}')).toThrow('list of stages');
});

test('cells are short text', () => {
  expect([1.000000001, null, 'a', [1]].map(cellText)).toEqual(['1', '', 'a', '[1]']);
});
