import type { Repaired } from '@platform/sdk/cloud';
import { expect, test } from 'vitest';
import { repairEnding } from './repair-ending.ts';

const report = (...outcomes: Repaired['outcome'][]): Pick<Repaired, 'outcome'>[] =>
  outcomes.map((outcome) => ({ outcome }));

test('a repair that changes nothing ends with what --apply would do', () => {
  expect(repairEnding(report('can be restored', 'can be restored', 'would be given up', 'lost'), false)).toEqual({
    isMended: false,
    text: '4 of 4 damages are not mended yet. Nothing was changed. Run it again with --apply to restore 2 and give up 1 of them',
  });
  expect(repairEnding(report('would be given up'), false).text).toMatch(
    /Run it again with --apply to give up 1 of them$/,
  );
  expect(repairEnding(report('lost', 'not mended'), false)).toEqual({
    isMended: false,
    text: '2 of 2 damages are not mended yet. Nothing was changed. With --apply nothing would be mended, either: the detail of each damage says what else to do',
  });
  expect(repairEnding([], false)).toEqual({ isMended: true, text: 'Nothing is damaged.' });
});

test('a repair with --apply ends with what it left', () => {
  expect(repairEnding(report('restored', 'loss accepted'), true)).toEqual({
    isMended: true,
    text: 'Everything is mended.',
  });
  expect(repairEnding(report('restored', 'lost'), true)).toEqual({
    isMended: false,
    text: '1 of 2 damages are not mended yet',
  });
});
