import { expect, test } from 'vitest';
import { fitsHistory, type HistoryEntry, historyCsv, sentenceOf, whoOf } from './history-entry.ts';

const entry = (more: Partial<HistoryEntry> = {}): HistoryEntry => ({
  ...{ number: '4', at: new Date(0), who: 'Ada', what: 'added component cam', restored: '' },
  ...more,
});

test('people and keys have their names; others are called what they are', () => {
  expect(whoOf('person', 'Ada')).toBe('Ada');
  expect(whoOf('api-key', 'line 3')).toBe('Key line 3');
  expect(whoOf('part', '')).toBe('The machine');
  expect(whoOf('api-key', '')).toBe('A key');
  expect(whoOf('visitor', '')).toBe('visitor');
});

test('an entry is a sentence', () => {
  expect(sentenceOf(entry())).toBe('Ada added component cam');
  expect(sentenceOf(entry({ restored: '3', what: 'removed component cam' }))).toBe(
    'Ada restored version 3: removed component cam',
  );
  expect(sentenceOf(entry({ restored: '3', what: undefined }))).toBe('Ada restored version 3');
  expect(sentenceOf(entry({ who: '', what: undefined }))).toBe('Someone …');
});

test('entries are found by person and by words of what the page shows', () => {
  expect(fitsHistory(entry(), '', '')).toBe(true);
  expect(fitsHistory(entry(), 'Ada', 'CAM version 4')).toBe(true);
  expect(fitsHistory(entry(), 'Ada', 'motor')).toBe(false);
  expect(fitsHistory(entry(), 'Bob', '')).toBe(false);
});

test('the export has a line for each entry, and no cell is a formula', () => {
  expect(
    historyCsv([entry({ who: '=1+1', what: 'added 2 components: a, b' }), entry({ at: undefined, what: undefined })]),
  ).toBe(
    `version,at,who,what,restored\r\n4,1970-01-01T00:00:00.000Z,'=1+1,"added 2 components: a, b",\r\n4,,Ada,,\r\n`,
  );
});
