import { setTimeout as sleep } from 'node:timers/promises';
import { GapReason } from '@platform/proto/platform/gaps/v1/gaps';
import { cpuSeconds } from '@platform/testkit';
import { countReadings } from '../cloud/count-readings.ts';
import { startSyncMachine } from './sync-machine.ts';

const warmUpMs = 8_000;
/** Longer than a sync interval, and than the time between two reports of gaps. */
const untilSyncedMs = 12_000;

export interface CaptureLoad {
  /** Share of a core used by the machine-server. */
  readonly percent: number;
  readonly storedPerSecond: number;
  /** Ticks that the machine-server itself counted as missed, for the whole run. */
  readonly missed: number;
  /** Stored readings of the whole run. */
  readonly stored: number;
  /** Time from the first to the last stored reading. */
  readonly wholeSeconds: number;
}

/** The machine-server's cost of capturing and syncing a configuration whose resources are called `bench…`. */
export async function measureCaptureLoad(
  configuration: (folder: string) => object,
  seconds: number,
  countStored: typeof countReadings = countReadings,
): Promise<CaptureLoad> {
  await using machine = await startSyncMachine(configuration);
  const { cloud, pid } = machine;
  await sleep(warmUpMs);
  const [before, from] = [cpuSeconds(pid), new Date()];
  await sleep(seconds * 1_000);
  const [after, to] = [cpuSeconds(pid), new Date()];
  await sleep(untilSyncedMs);
  const measured = (to.getTime() - from.getTime()) / 1_000;
  const storedPerSecond = (await countStored(cloud, { time_received: { $gte: from, $lt: to } })) / measured;
  const { gaps } = await cloud.client.gaps.listGaps({
    partId: cloud.partId,
    reasons: [GapReason.MISSED],
    limit: 1_000,
  });
  const missed = gaps.reduce((sum, gap) => sum + Number(gap.readings), 0);
  return { percent: ((after - before) / measured) * 100, storedPerSecond, missed, ...(await wholeRun(cloud)) };
}

async function wholeRun({ client, organizationId }: Parameters<typeof countReadings>[0]) {
  const [row] = await client.queryMql(organizationId, [
    { $match: { component_name: { $gte: 'bench', $lt: 'bencha' } } },
    {
      $group: { _id: null, stored: { $sum: 1 }, first: { $min: '$time_requested' }, last: { $max: '$time_requested' } },
    },
  ]);
  const ms = (value: unknown): number => (value instanceof Date ? value.getTime() : Number.NaN);
  return { stored: Number(row?.['stored'] ?? 0), wholeSeconds: (ms(row?.['last']) - ms(row?.['first'])) / 1_000 };
}
