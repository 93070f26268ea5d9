import { expect, test } from 'vitest';
import { csvOf } from './csv.ts';

test('rows are lines below the names of the columns; a missing value is an empty cell', () => {
  const rows = [{ time: '2026-01-01', 'data.readings.t': 1.23456789012 }, { time: '2026-01-02' }];
  expect(csvOf(rows, ['time', 'data.readings.t'])).toBe(
    'time,data.readings.t\r\n2026-01-01,1.23456789012\r\n2026-01-02,\r\n',
  );
});

test.each([
  ['a,b', '"a,b"'],
  ['say "no"', '"say ""no"""'],
  ['two\nlines', '"two\nlines"'],
  [['x', 1], '"[""x"",1]"'],
  [-1, '-1'],
  ['=HYPERLINK("x")', `"'=HYPERLINK(""x"")"`],
  ['@sum', "'@sum"],
])('%j is the cell %s', (value, cell) => {
  expect(csvOf([{ a: value }], ['a'])).toBe(`a\r\n${cell}\r\n`);
});
