import { expect, test } from 'vitest';
import { csvOf } from './csv.ts';

test('rows are lines below the names of the columns; a missing value is an empty cell', () => {
  const rows = [{ time: '2026-01-01', 'data.readings.t': 1.23456789012 }, { time: '2026-01-02' }];
  expect(csvOf(rows, ['time', 'data.readings.t'])).toBe(
    'time,data.readings.t\r\n2026-01-01,1.23456789012\r\n2026-01-02,\r\n',
  );
});

test('other values are cells of JSON, and no text is a formula', () => {
  expect(csvOf([{ a: ['x', 1], b: -1, c: '=1' }], ['a', 'b', 'c'])).toBe(`a,b,c\r\n"[""x"",1]",-1,'=1\r\n`);
});
