/** The last sentence of `platform admin repair`: how much is still damaged, and what to do about it. */
import type { Repaired } from '@platform/sdk/cloud';

export interface RepairSummary {
  readonly isMended: boolean;
  readonly text: string;
}

/** @param apply false: the report lists what would be done */
export function repairSummary(report: readonly Pick<Repaired, 'outcome'>[], apply: boolean): RepairSummary {
  if (report.length === 0) return { isMended: true, text: 'Nothing is damaged.' };
  const count = (wanted: Repaired['outcome']): number => report.filter(({ outcome }) => outcome === wanted).length;
  const left = report.length - count('restored') - count('loss accepted');
  if (left === 0) return { isMended: true, text: 'Everything is repaired.' };
  const notMended = `${left} of ${report.length} damaged items are not repaired yet`;
  if (apply) return { isMended: false, text: notMended };
  const planned = [
    ...(count('can be restored') > 0 ? [`restore ${count('can be restored')}`] : []),
    ...(count('would be given up') > 0 ? [`give up ${count('would be given up')}`] : []),
  ].join(' and ');
  const next =
    planned === ''
      ? '--apply would not repair anything either: the detail of each item says what else you can do'
      : `Run it again with --apply to ${planned} of them`;
  return { isMended: false, text: `${notMended}. Nothing was changed. ${next}` };
}
