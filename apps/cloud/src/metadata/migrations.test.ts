import { expect, test } from 'vitest';
import { baselineVersion, requireReadable } from './baseline-version.ts';
import { migrations } from './migrations.ts';

test('migrations are numbered in order, from the baseline, without gaps or repeats: a store applies those above its own number', () => {
  expect(migrations.map(({ version }) => version)).toEqual(migrations.map((_, at) => baselineVersion + at));
});

test('D42 data of an earlier commit is refused with the last commit that reads it', () => {
  const refuse = (found: number) => (): void =>
    requireReadable(found, { oldest: baselineVersion, newest: baselineVersion }, 'data directory x');
  expect(refuse(45)).toThrow('(0dcb1cdd still reads and exports it)');
  expect(refuse(100)).toThrow('(6eb3e1d3 still reads and exports it)');
  expect(refuse(101)).toThrow('(4d81c169 still reads and exports it)');
  expect(refuse(baselineVersion - 1)).toThrow('(fe3824b3 still reads and exports it)');
  expect(refuse(baselineVersion)).not.toThrow();
});
