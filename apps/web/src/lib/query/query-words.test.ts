import { expect, test } from 'vitest';
import { explainWords } from './describe-explain.ts';
import { errorPlaceOf } from './error-place.ts';
import { wordsOf } from './names-in-rows.ts';
import { savedOf, withSaved } from './saved.ts';

test('the place of an error is read from the message of the cloud', () => {
  expect(errorPlaceOf('line 3, column 7: there is no table nowhere')).toEqual({ line: 3, column: 7 });
  expect(errorPlaceOf('stage 1 ($group) at _id.x: unknown operator')).toEqual({ path: [1, '$group', '_id', 'x'] });
  expect(errorPlaceOf('stage 0 ($match) at $match.a.0: wrong')).toEqual({ path: [0, '$match', 'a', 0] });
  expect(errorPlaceOf('stage 2 ($mach): unknown stage')).toEqual({ path: [2, '$mach'] });
  expect(errorPlaceOf('the cloud is away')).toBeUndefined();
});

test('an explanation says what was skipped, what was read and what ran later, with the reason', () => {
  const source = {
    does: 'group',
    pushed: ['$match', '$group'],
    not_pushed: [{ part: '$sort', why: 'it needs all rows' }],
    files: 2,
    rows: 5,
  };
  const words = explainWords({
    files_listed: 9,
    files_skipped: 7,
    files_read: 2,
    sources: [source],
    rows: 1,
    scanned_bytes: 2_500_000,
    elapsed_ms: 12.4,
  });
  expect(words).toEqual([
    'Of 9 stored files, 7 were skipped, since their names and times rule out matching rows; the rows of 2 were read.',
    'Groups computed in the files: 2 files, 5 rows returned; $match, $group ran while reading.',
    '$sort ran afterwards, on single rows: it needs all rows.',
    'The answer has 1 row. 2.5 MB count toward the month; it took 12 ms.',
  ]);
});

test('words to complete are the fields, components and methods of stored readings, each once', () => {
  const rows = [
    { _id: { name: 'oven', method: 'Readings' }, data: { readings: { heat: { upper: 1 }, on: true } } },
    { _id: { name: 'press', method: 'Readings' }, data: { readings: { on: false } } },
  ];
  expect(wordsOf(rows).map(({ label, detail }) => `${label}: ${detail}`)).toEqual([
    'oven: component',
    'Readings: method',
    'data.readings.heat.upper: field of oven',
    'data.readings.on: field of several components',
    'press: component',
  ]);
});

test('saved queries are read back, other metadata stays, and invalid queries are left out', () => {
  const heat = { name: 'Heat', language: 'sql', text: 'SELECT 1', range: 0 } as const;
  const stored = withSaved({ dashboards: { a: 1 }, queries: { broken: 7 } }, 'Heat', heat);
  expect(stored['dashboards']).toEqual({ a: 1 });
  expect(savedOf(stored)).toEqual([heat]);
  expect(savedOf(withSaved(stored, 'Heat', undefined))).toEqual([]);
});
