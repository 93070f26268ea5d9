import { expect, test } from 'vitest';
import { originalPlaces } from './original-places.ts';

// Made by hand from ECMA-426: line 1 is [0 → a:1:1], [8 → a:3:5]; line 2 is empty; line 3 is [4 → b:1:3], [9, no source].
const map = { sources: ['../../src/a.ts', '../../src/b.ts'], mappings: 'AAAA,QAEI;;ICFF,K' };

test('a place of a bundle is that of the segment before it, on the same line', () => {
  const at = (line: number, column: number): string | undefined => originalPlaces(map, [{ line, column }])[0];
  expect([at(1, 1), at(1, 8), at(1, 9), at(1, 500)]).toEqual([
    'src/a.ts:1:1',
    'src/a.ts:1:1',
    'src/a.ts:3:5',
    'src/a.ts:3:5',
  ]);
  expect([at(2, 1), at(3, 1), at(3, 10), at(9, 1)]).toEqual([undefined, undefined, undefined, undefined]);
  expect(at(3, 5)).toBe('src/b.ts:1:3');
});

test('many places are found at once, in any order', () => {
  const places = [
    { line: 3, column: 6 },
    { line: 1, column: 3 },
    { line: 2, column: 1 },
    { line: 1, column: 9 },
  ];
  expect(originalPlaces(map, places)).toEqual(['src/b.ts:1:3', 'src/a.ts:1:1', undefined, 'src/a.ts:3:5']);
});
