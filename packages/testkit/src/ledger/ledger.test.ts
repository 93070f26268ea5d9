import { expect, test } from 'vitest';
import { Ledger } from './ledger.ts';

test('lost, duplicated, changed and invented readings are distinguished', () => {
  const ledger = new Ledger('run');
  const made = Array.from({ length: 5 }, () => ledger.next('m', 'c'));
  ledger.acknowledge(made.slice(0, 4));
  const [first, second, third, fourth, unacknowledged] = made as [(typeof made)[0], ...typeof made];
  expect(ledger.check(made)).toMatchObject({
    lost: [],
    duplicated: [],
    bad: [],
    phantom: [],
    acknowledged: 4,
    found: 5,
  });
  expect(ledger.check(made.slice(0, 4))).toMatchObject({ lost: [] });
  if (!second || !third || !fourth || !unacknowledged) throw new Error('five were made');
  const report = ledger.check([first, first, { ...second, hash: 'x' }, third, { ...third, seq: 99 }, unacknowledged]);
  expect(report.lost).toEqual([second, fourth]);
  expect(report.duplicated).toEqual([first]);
  expect(report.bad).toEqual([{ ...second, hash: 'x' }]);
  expect(report.phantom).toEqual([{ ...third, seq: 99 }]);
});
