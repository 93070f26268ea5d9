/** Proves that no produced reading is missing or duplicated. */
import { GapReason } from '@platform/proto/platform/gaps/v1/gaps';
import { accountFor, type LedgerReading } from '@platform/testkit';
import { expect } from 'vitest';
import { until } from '../start-test-server.ts';
import type { Rig } from './rig.ts';

/** Reasons for which a produced reading may be missing; for the first two, the number is exact. */
const lossReasons: readonly GapReason[] = [
  GapReason.DISCARDED,
  GapReason.REFUSED,
  GapReason.MISSED,
  GapReason.FAILED,
  GapReason.QUEUE_FULL,
  GapReason.UNWRITTEN,
];

/** Resolves once every produced reading is in the cloud exactly once, or in a gap. */
export async function expectNothingLost({ cloud, source }: Rig): Promise<void> {
  const stored = (): LedgerReading[] =>
    cloud.stored
      .filter(({ metadata }) => metadata.componentName === 'counter')
      .flatMap(({ readings }) =>
        readings.map(({ data }) => (data.value as unknown as { readings: LedgerReading }).readings),
      );
  const gaps = () =>
    [...cloud.gaps.values()]
      .filter(({ reason }) => lossReasons.includes(reason))
      .map(({ componentName, reason, start, end, readings }) => ({
        ...{ component: componentName, reason: String(reason), isBound: lossReasons.indexOf(reason) > 1 },
        ...{
          startMs: Number(start?.seconds) * 1e3,
          endMs: Number(end?.seconds) * 1e3 + 1e3,
          readings: Number(readings),
        },
      }));
  const missing = (): unknown[] => {
    const { unexplained } = accountFor({ produced: source.produced, stored: stored(), gaps: gaps(), slackMs: 1_000 });
    return [...unexplained];
  };
  await until('an account of everything', () => missing().length === 0);
  const seqs = stored().map(({ seq }) => Number(seq));
  expect(new Set(seqs).size).toBe(seqs.length);
  expect(cloud.breaches).toEqual([]);
}
