import { expect, test } from 'vitest';
import { csvText } from './csv.ts';

test.each([
  ['plain', 'plain'],
  ['', ''],
  ['a,b', '"a,b"'],
  ['say "no"', '"say ""no"""'],
  ['two\nlines', '"two\nlines"'],
  ['=HYPERLINK("x")', `"'=HYPERLINK(""x"")"`],
  ['@sum', "'@sum"],
  ['+1+1', "'+1+1"],
  ['-1-1', "'-1-1"],
  ['-1', '-1'],
  ['-1.5e-7', '-1.5e-7'],
])('%j is the cell %s', (text, cell) => {
  expect(csvText([['a', text], ['b']])).toBe(`a,${cell}\r\nb\r\n`);
});
