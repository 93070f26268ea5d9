import type { Repaired } from '@platform/sdk/cloud';
import { expect, test } from 'vitest';
import { repairSummary } from './repair-summary.ts';

const report = (...outcomes: Repaired['outcome'][]): Pick<Repaired, 'outcome'>[] =>
  outcomes.map((outcome) => ({ outcome }));

test('a repair that changes nothing ends with what --apply would do', () => {
  expect(repairSummary(report('can be restored', 'can be restored', 'would be given up', 'lost'), false)).toEqual({
    isMended: false,
    text: '4 of 4 damaged items are not repaired yet. Nothing was changed. Run it again with --apply to restore 2 and give up 1 of them',
  });
  expect(repairSummary(report('would be given up'), false).text).toMatch(
    /Run it again with --apply to give up 1 of them$/,
  );
  expect(repairSummary(report('lost', 'not mended'), false)).toEqual({
    isMended: false,
    text: '2 of 2 damaged items are not repaired yet. Nothing was changed. --apply would not repair anything either: the detail of each item says what else you can do',
  });
  expect(repairSummary([], false)).toEqual({ isMended: true, text: 'Nothing is damaged.' });
});

test('a repair with --apply ends with what is still damaged', () => {
  expect(repairSummary(report('restored', 'loss accepted'), true)).toEqual({
    isMended: true,
    text: 'Everything is repaired.',
  });
  expect(repairSummary(report('restored', 'lost'), true)).toEqual({
    isMended: false,
    text: '1 of 2 damaged items are not repaired yet',
  });
});
