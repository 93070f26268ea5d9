import { expect, test } from 'vitest';
import type { CheckedCase } from './check-case.ts';
import { belowRates, readPassRates } from './pass-rates.ts';
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

test('a rate at its minimum passes, one below it is reported with both figures', () => {
  expect(belowRates(tallyOf(9, 1), { ...none, stages: { $match: 0.9 } })).toEqual([]);
  expect(belowRates(tallyOf(8, 2), { ...none, stages: { $match: 0.9 } })).toEqual([
    'stage $match: 8/10 is below its minimum of 90.0 %',
  ]);
});

test('a minimum for all names applies to those without a specific one', () => {
  expect(belowRates(tallyOf(8, 2), { ...none, operators: { '*': 0.9 } })).toHaveLength(1);
  expect(belowRates(tallyOf(8, 2), { ...none, operators: { '*': 0.9, $abs: 0.8 } })).toEqual([]);
});

test('a name with fewer than ten cases has no minimum', () => {
  expect(belowRates(tallyOf(0, 9), { ...none, groups: { stages: 0.97 } })).toEqual([]);
});

test('the committed minimums are rates, and each stage and operator has one', () => {
  const { stages, operators } = readPassRates();
  expect(stages['*']).toBeGreaterThanOrEqual(0.9);
  expect(operators['*']).toBeGreaterThanOrEqual(0.9);
  const rates = Object.values(readPassRates()).flatMap((each) => Object.values(each as Record<string, number>));
  expect(rates.every((rate) => rate > 0 && rate <= 1)).toBe(true);
});
