import { expect, test } from 'vitest';
import { accountFor, type ReportedGap } from './account-for.ts';
import { Ledger } from './ledger.ts';

const ledger = new Ledger();
/** Ten readings, 100 ms apart. */
const produced = Array.from({ length: 10 }, (_, index) => ({ ...ledger.next('m', 'c'), atMs: index * 100 }));
const without = (...seqs: number[]) => produced.filter(({ seq }) => !seqs.includes(seq));
const gap = (startMs: number, endMs: number, readings: number, isBound = false): ReportedGap => ({
  ...{ component: 'c', reason: isBound ? 'crash' : 'discarded', startMs, endMs, readings, isBound },
});
const account = (stored: readonly (typeof produced)[number][], gaps: readonly ReportedGap[]) =>
  accountFor({ produced, stored, gaps, slackMs: 0 });

test('one gap of its component that covers its time and has room accounts for a missing reading', () => {
  expect(account(produced, [])).toEqual({ unexplained: [], overstated: [], longestMs: 0, byReason: {} });
  expect(account(without(3, 4), [gap(200, 300, 2)])).toMatchObject({ unexplained: [], byReason: { discarded: 2 } });
  expect(account(without(3, 4), [gap(200, 300, 1)]).unexplained).toEqual([produced[3]]);
  expect(account(without(3), [gap(300, 900, 1)]).unexplained).toEqual([produced[2]]);
  expect(account(without(3), [{ ...gap(200, 200, 1), component: 'other' }]).unexplained).toEqual([produced[2]]);
  // The first one would also fit into the later gap, which the second needs.
  expect(account(without(3, 5), [gap(200, 900, 1), gap(200, 300, 1)]).unexplained).toEqual([]);
});

test('exact gaps must not report more readings than are missing; upper bounds may', () => {
  expect(account(without(3), [gap(200, 200, 3)]).overstated).toMatchObject([{ surplus: 2 }]);
  expect(account(without(3, 6), [gap(0, 1_000, 9, true)])).toMatchObject({ overstated: [], longestMs: 300 });
});
