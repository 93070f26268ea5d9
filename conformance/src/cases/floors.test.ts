import { expect, test } from 'vitest';
import type { CheckedCase } from './check-case.ts';
import { belowFloors, readFloors } from './floors.ts';
import { Tally } from './tally.ts';

const none = { groups: {}, stages: {}, operators: {}, kinds: {} };

function tallyOf(passed: number, failed: number): Tally {
  const tally = new Tally();
  const common = { name: 'x', msg: '', source: 'own', group: 'stages', stages: ['$match'], operators: ['$abs'] };
  const rest = { ...common, kind: 'result', actualJson: '', alterations: [] } as const;
  const add = (verdict: CheckedCase['verdict']): void => tally.add({ ...rest, verdict });
  for (let count = 0; count < passed; count++) add('passed');
  for (let count = 0; count < failed; count++) add('failed');
  return tally;
}

test('a rate at its floor is well, one below it is told with both figures', () => {
  expect(belowFloors(tallyOf(9, 1), { ...none, stages: { $match: 0.9 } })).toEqual([]);
  expect(belowFloors(tallyOf(8, 2), { ...none, stages: { $match: 0.9 } })).toEqual([
    'stage $match: 8/10 is below its floor of 90.0 %',
  ]);
});

test('a floor for all names holds for those that have none of their own', () => {
  expect(belowFloors(tallyOf(8, 2), { ...none, operators: { '*': 0.9 } })).toHaveLength(1);
  expect(belowFloors(tallyOf(8, 2), { ...none, operators: { '*': 0.9, $abs: 0.8 } })).toEqual([]);
});

test('fewer than ten cases are held to no floor', () => {
  expect(belowFloors(tallyOf(0, 9), { ...none, groups: { stages: 0.97 } })).toEqual([]);
});

test('the committed floors are rates, and each stage and operator has one', () => {
  const { stages, operators } = readFloors();
  expect(stages['*']).toBeGreaterThanOrEqual(0.9);
  expect(operators['*']).toBeGreaterThanOrEqual(0.9);
  const floors = Object.values(readFloors()).flatMap((each) => Object.values(each as Record<string, number>));
  expect(floors.every((floor) => floor > 0 && floor <= 1)).toBe(true);
});
