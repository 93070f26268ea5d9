import { expect, test } from 'vitest';
import { Int32, Regex } from '../../bson/value.ts';
import { codeOf, evaluate } from '../../testing/evaluate.ts';

test('$indexOfBytes counts bytes and ends a match before the end; $indexOfCP counts characters and may go beyond', async () => {
  expect(await evaluate({ $indexOfBytes: ['žluťoučký', 'č'] })).toEqual(new Int32(8));
  expect(await evaluate({ $indexOfCP: ['žluťoučký', 'č'] })).toEqual(new Int32(6));
  expect(await evaluate({ $indexOfCP: ['😀a😀b', 'b', 2] })).toEqual(new Int32(3));
  expect(await evaluate({ $indexOfBytes: ['abcd', 'cd', 0, 3] })).toEqual(new Int32(-1));
  expect(await evaluate({ $indexOfCP: ['abcd', 'cd', 0, 3] })).toEqual(new Int32(2));
});

test('an empty text is found at the start; at the very end only by bytes', async () => {
  expect(await evaluate({ $indexOfBytes: ['abc', '', 3] })).toEqual(new Int32(3));
  expect(await evaluate({ $indexOfCP: ['abc', '', 3] })).toEqual(new Int32(-1));
  expect(await evaluate({ $indexOfCP: ['', ''] })).toEqual(new Int32(0));
  expect(await evaluate({ $indexOfBytes: ['abc', '', 4] })).toEqual(new Int32(-1));
});

test('null as the text gives null, null as the sought text is an error', async () => {
  expect(await evaluate({ $indexOfBytes: [null, 5, 'x'] })).toBe(null);
  expect(await codeOf({ $indexOfBytes: ['x', null] })).toBe(40092);
  expect(await codeOf({ $indexOfCP: ['x', null] })).toBe(40094);
  expect(await codeOf({ $indexOfCP: ['x', 'x', 1.5] })).toBe(40096);
  expect(await codeOf({ $indexOfCP: ['x', 'x', 0, -1] })).toBe(40097);
});

test('$split by a text or an expression; the groups of an expression stay', async () => {
  expect(await evaluate({ $split: ['a--b-', '-'] })).toEqual(['a', '', 'b', '']);
  expect(await evaluate({ $split: ['a1b22c', new Regex('[0-9]+')] })).toEqual(['a', 'b', 'c']);
  expect(await evaluate({ $split: ['a1b', new Regex('([0-9])')] })).toEqual(['a', '1', 'b']);
  expect(await evaluate({ $split: ['a', null] })).toBe(null);
  expect(await codeOf({ $split: ['a', ''] })).toBe(40087);
  expect(await codeOf({ $split: ['a', 5] })).toBe(10503900);
});

test('$replaceAll ignores its own replacements; an empty text is found around every character', async () => {
  const replaced = (input: unknown, find: unknown, replacement: unknown): Promise<unknown> =>
    evaluate({ $replaceAll: { input, find, replacement } });
  expect(await replaced('aaa', 'aa', 'a')).toBe('aa');
  expect(await replaced('a😀', '', '.')).toBe('.a.😀.');
  expect(await replaced('a.b', new Regex('[ab]'), { $literal: '$0' })).toBe('$0.$0');
  expect(await evaluate({ $replaceOne: { input: 'xyx', find: 'x', replacement: '' } })).toBe('yx');
});

test('$replaceAll: a wrong type is an error even beside null', async () => {
  expect(await evaluate({ $replaceAll: { input: 'a', find: null, replacement: 'b' } })).toBe(null);
  expect(await codeOf({ $replaceAll: { input: null, find: 5, replacement: 'b' } })).toBe(10503901);
  expect(await codeOf({ $replaceAll: { input: null, find: 'a', replacement: 5 } })).toBe(10503902);
  expect(await codeOf({ $replaceAll: { input: 5, find: null, replacement: null } })).toBe(10503904);
  expect(await codeOf({ $replaceAll: { input: 'a', find: 'a' } })).toBe(51747);
});
