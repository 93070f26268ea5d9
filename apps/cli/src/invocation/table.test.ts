import { expect, test } from 'vitest';
import { table } from './table.ts';

const id = '737310f1-fc0b-41bc-8b17-a79feebaed72';

test('long names are truncated to the width of the terminal, ids never; without a terminal nothing is truncated', () => {
  const rows = [
    ['n'.repeat(200), id, 'online'],
    ['press-7', id, 'offline'],
  ];
  const cut = table(['name', 'id', 'state'], rows, { colours: false, width: 80 }).split('\n');
  for (const line of cut) expect(line.length).toBeLessThanOrEqual(80);
  expect(cut[1]).toMatch(/^n{10,}… {2}/);
  for (const line of cut.slice(1)) expect(line).toContain(id);
  const whole = table(['name', 'id', 'state'], rows, { colours: false });
  expect(whole).toContain('n'.repeat(200));
});

test('columns stay readable on a terminal that is too narrow for them', () => {
  const [, row] = table(['name', 'id'], [['a name of some length', id]], { colours: false, width: 20 }).split('\n');
  expect(row).toBe(`a name of s…  ${id}`);
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
