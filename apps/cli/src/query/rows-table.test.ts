import { Scalar } from '@platform/sdk/cloud';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { widthOf } from '../results/text-width.ts';
import { flatten } from './flatten.ts';
import { rowsTable } from './rows-table.ts';

const number = (text: string): Scalar => new Scalar(text, text, true);
const id = '0b1e6f0a-0000-4000-8000-000000000001';
const row = (name: string, temperature: string) =>
  flatten(
    new Map<string, string | Scalar | ReadonlyMap<string, Scalar>>([
      ['part_id', id],
      ['component_name', name],
      ['data', new Map([['Temp', number(temperature)]])],
    ]),
  );

test('columns are exact flattened paths; numbers are right-aligned, missing values are a dash', () => {
  const rows = [row('oven', '7.5'), new Map([['component_name', 'hall']])];
  const { text, hidden } = rowsTable(rows, { colours: false });
  expect(text.split('\n')).toEqual([
    `part_id${' '.repeat(31)}component_name  data.Temp`,
    `${id}  oven                  7.5`,
    `-${' '.repeat(37)}hall                    -`,
  ]);
  expect(hidden).toEqual([]);
});

test('a table that does not fit lists values that all rows share once, and then each row with one line per field', () => {
  const { text, hidden } = rowsTable([row('oven', '7.5'), row('hall', '21')], { colours: false, width: 22 });
  expect(text.split('\n')).toEqual([
    'In all rows:',
    'part_id  0b1e6f0a-',
    '         0000-4000-',
    '         8000-00000000',
    '         0001',
    '',
    'component  oven',
    '_name',
    'data.Temp  7.5',
    '',
    'component  hall',
    '_name',
    'data.Temp  21',
  ]);
  expect(hidden).toEqual([]);
});

test('long values continue on the next line', () => {
  const rows = ['a few words', 'b'.repeat(30)].map(
    (text) =>
      new Map([
        ['note', text],
        ['level', 'info'],
      ]),
  );
  expect(rowsTable(rows, { colours: false, width: 26 }).text.split('\n')).toEqual([
    'note                 level',
    'a few words          info',
    `${'b'.repeat(19)}  info`,
    'b'.repeat(11),
  ]);
});

test('a single row that does not fit has one line per field', () => {
  expect(rowsTable([row('oven', '7.5')], { colours: false, width: 60 }).text.split('\n')).toEqual([
    `part_id         ${id}`,
    'component_name  oven',
    'data.Temp       7.5',
  ]);
});

test('no line is wider than the terminal, whatever the names and values', () => {
  const text = fc.string({ unit: 'binary', maxLength: 40 });
  const flat = fc.array(fc.tuple(text, text), { maxLength: 8 }).map((cells) => new Map(cells));
  fc.assert(
    fc.property(fc.array(flat, { minLength: 1, maxLength: 5 }), (rows) => {
      const shown = rowsTable(rows, { colours: false, width: 60 });
      for (const line of shown.text.split('\n')) expect(widthOf(line)).toBeLessThanOrEqual(60);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
      expect(shown.text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
    }),
  );
});
