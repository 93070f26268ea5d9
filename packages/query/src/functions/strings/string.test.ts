import { expect, test } from 'vitest';
import { BsonDate, Int32, Timestamp } from '../../bson/value.ts';
import { codeOf, evaluate } from '../../testing/evaluate.ts';

test('only ASCII letters change case, and count as equal in $strcasecmp', async () => {
  expect(await evaluate({ $toUpper: 'aßé' })).toBe('Aßé');
  expect(await evaluate({ $strcasecmp: ['STRASSE', 'strasse'] })).toEqual(new Int32(0));
  expect(await evaluate({ $strcasecmp: ['É', 'é'] })).toEqual(new Int32(-1));
});

test('string functions accept numbers, times and null as texts, nothing else', async () => {
  expect(await evaluate({ $toLower: '$missing' })).toBe('');
  expect(await evaluate({ $substrCP: [1.5, 0, 9] })).toBe('1.5');
  expect(await evaluate({ $toLower: new BsonDate(0) })).toBe('1970-01-01t00:00:00.000z');
  expect(await evaluate({ $substrBytes: [new Timestamp((86_400n << 32n) | 7n), 0, -1] })).toBe('Jan  2 00:00:00:7');
  expect(await codeOf({ $toUpper: true })).toBe(16007);
  expect(await codeOf({ $toUpper: '$a' }, { a: ['x'] })).toBe(16007);
});

test('a byte order mark is a character', async () => {
  expect(await evaluate({ $strLenCP: '$a' }, { a: '\ufeffa' })).toEqual(new Int32(2));
  expect(await evaluate({ $strLenBytes: '$a' }, { a: '\ufeffa' })).toEqual(new Int32(4));
  expect(await evaluate({ $substrBytes: ['$a', 0, 3] }, { a: '\ufeffa' })).toBe('\ufeff');
});

test('$substrBytes refuses to split a character, $substrCP cannot split one', async () => {
  expect(await evaluate({ $substrBytes: ['aéb', 1, 2] })).toBe('é');
  expect(await codeOf({ $substrBytes: ['aéb', 2, 1] })).toBe(28656);
  expect(await codeOf({ $substrBytes: ['aéb', 1, 1] })).toBe(28657);
  expect(await evaluate({ $substrBytes: ['abc', 1, -1] })).toBe('bc');
  expect(await evaluate({ $substrBytes: ['abc', 9, 1] })).toBe('');
  expect(await codeOf({ $substrBytes: ['abc', -1, 1] })).toBe(50752);
  expect(await codeOf({ $substrBytes: ['abc', Number.NaN, 1] })).toBe(31109);
  expect(await evaluate({ $substrCP: ['a😀b', 1, 1] })).toBe('😀');
  expect(await codeOf({ $substrCP: ['abc', -1, 1] })).toBe(34455);
  expect(await codeOf({ $substrCP: ['abc', -1, -1] })).toBe(34454);
});
