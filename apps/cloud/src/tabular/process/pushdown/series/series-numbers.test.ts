import { expect, test } from 'vitest';
import type { Chosen } from '../steps.ts';
import { bySeriesNumbers } from './series-numbers.ts';

/** A run of files, each a letter for its numbering of series, and their rows. */
function runOf(kind: 'group' | 'rows', files: readonly string[]): readonly Chosen[] {
  const letterOf = ({ path }: { path: string }): string => path.charAt(0);
  const isOfNumber = (all: readonly { path: string }[]): boolean => new Set(all.map(letterOf)).size === 1;
  return files.map((path) => {
    const file = { path, facts: { rows: Number(path.slice(1)) } };
    return { emission: { kind, isOfNumber }, pushed: [], key: '', file } as unknown as Chosen;
  });
}

function splitOf(kind: 'group' | 'rows', files: readonly string[]): string[] {
  return bySeriesNumbers(runOf(kind, files)).map((alike) => alike.map(({ file }) => file.path).join(' '));
}

test('files with equal numbering of series are grouped together, a large one alone, the others by file', () => {
  expect(splitOf('group', ['a900', 'b10', 'a800', 'c3000000', 'd5'])).toEqual(['c3000000', 'a900 a800', 'b10 d5']);
  expect(splitOf('group', ['a1', 'b1', 'c1', 'd1', 'e1', 'e1', 'a1'])).toEqual(['a1 a1', 'e1 e1 b1 c1 d1']);
});

test('a run is not split if that has no benefit or if its rows have an order', () => {
  expect(splitOf('group', ['a1', 'a2'])).toEqual(['a2 a1']);
  expect(splitOf('group', ['a1', 'b2'])).toEqual(['b2 a1']);
  expect(splitOf('rows', ['a1', 'b3000000', 'a2'])).toEqual(['a1 b3000000 a2']);
  expect(splitOf('group', [])).toEqual(['']);
});
