import { expect, test } from 'vitest';
import { table } from './table.ts';

const id = '737310f1-fc0b-41bc-8b17-a79feebaed72';

test('long names continue on the next line within the width of the terminal, ids never; without a terminal each row is one line', () => {
  const rows = [
    [`${'n'.repeat(60)} machine of the second hall`, id, 'online'],
    ['press-7', id, 'offline'],
  ];
  const shown = table(['name', 'id', 'state'], rows, { colours: false, width: 80 }).split('\n');
  for (const line of shown) expect(line.length).toBeLessThanOrEqual(80);
  expect(shown.map((line) => line.slice(0, 33).trimEnd())).toEqual([
    'NAME',
    'n'.repeat(33),
    'n'.repeat(27),
    'machine of the second hall',
    'press-7',
  ]);
  expect(shown.filter((line) => line.includes(id))).toHaveLength(2);
  expect(table(['name', 'id', 'state'], rows, { colours: false }).split('\n')).toHaveLength(3);
});

test('on a terminal that is too narrow for the columns, each row has one line per column', () => {
  const rows = [['a name of some length', id]];
  expect(table(['name', 'id'], rows, { colours: false, width: 44 })).toBe(`name  a name of some length\nid    ${id}`);
});

test('numbers stay whole, and heads are broken between words', () => {
  const rows = [[123_456_789_012_345, 'words that take some room']];
  expect(table(['last_position_of_all', 'note'], rows, { colours: false, width: 32 }).split('\n')).toEqual([
    '  LAST POSITION  NOTE',
    '         OF ALL',
    '123456789012345  words that take',
    '                 some room',
  ]);
});

test('numbers are right-aligned, even if one is missing', () => {
  const rows = [
    ['a', 5, 'x'],
    ['b', 1_000, 'y'],
    ['c', '-', 'z'],
  ];
  expect(table(['name', 'machines', 'note'], rows, { colours: false })).toBe(
    'NAME  MACHINES  NOTE\na            5  x\nb         1000  y\nc            -  z',
  );
});

test('rows stay aligned with characters of width two and zero', () => {
  const rows = [
    ['工場', 'x'],
    ['e\u0301te\u0301', 'y'],
    ['Plant', 'z'],
  ];
  expect(table(['name', 'id'], rows, { colours: false }).split('\n').slice(1)).toEqual([
    '工場   x',
    'e\u0301te\u0301    y',
    'Plant  z',
  ]);
});

test('times are broken between day and hour only', () => {
  const rows = [['press-7', id, 'Plant/Hall 2', 'online', '2026-11-24 00:14:18+00:00']];
  const shown = table(['name', 'id', 'location', 'state', 'last_access'], rows, { colours: false, width: 86 });
  expect(shown.split('\n').slice(1)).toEqual([
    `press-7  ${id}  Plant/Hall 2  online  2026-11-24`,
    `${' '.repeat(69)}00:14:18+00:00`,
  ]);
});
