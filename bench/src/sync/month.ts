import { setTimeout as sleep } from 'node:timers/promises';
import { countReadings } from '../cloud/start-cloud.ts';
import { captureConfiguration } from '../readings/part-configuration.ts';
import type { Figure } from '../store/figure.ts';
import { waitingFiles } from './backlog.ts';
import { startSyncMachine } from './sync-machine.ts';
import { captureFolder, writeCaptures } from './write-captures.ts';

const components = 4;
const readingsEach = 1_500;
const monthMs = 30 * 86_400_000;
const everyMs = 2_000;

/** While a month of readings waits, a sensor produces ten readings a second: the maximum age of its newest reading in the cloud. */
export async function measureMonth({ readings }: { readonly readings: number }): Promise<Figure[]> {
  const files = Math.ceil(readings / readingsEach);
  const intervalMs = (monthMs * components) / (files * readingsEach);
  await using machine = await startSyncMachine(
    () => captureConfiguration(1, 10),
    (home, { partId }) =>
      writeCaptures({ home, partId, files, readingsEach, components, fromMs: Date.now() - monthMs, intervalMs }),
  );
  const { cloud, home } = machine;
  const startedMs = performance.now();
  let worst = 0;
  let from = 0;
  while (waitingFiles(captureFolder(home)) > 1) {
    await sleep(everyMs);
    const newestMs = await newestReading(cloud);
    if (newestMs === undefined) continue;
    from ||= performance.now();
    worst = Math.max(worst, (Date.now() - newestMs) / 1_000);
  }
  const seconds = (performance.now() - startedMs) / 1_000;
  const stored = await countReadings(cloud, { component_name: { $gte: 'bench-backlog', $lt: 'bench-backloga' } });
  return [
    {
      ...{
        name: `${files * readingsEach} readings wait: age of the newest reading`,
        value: worst,
        unit: 's',
        most: 10,
      },
      note: `the first after ${((from - startedMs) / 1_000).toFixed(1)} s`,
    },
    { name: 'month: readings synced', value: (files * readingsEach) / seconds, unit: 'readings/s' },
    {
      ...{
        name: 'month: readings stored of those captured',
        value: (stored / (files * readingsEach)) * 100,
        unit: '%',
      },
      ...{ least: 100, most: 100 },
    },
  ];
}

async function newestReading({
  client,
  organizationId,
}: Parameters<typeof countReadings>[0]): Promise<number | undefined> {
  const [row] = await client.queryMql(organizationId, [
    { $match: { component_name: 'bench-0', time_received: { $gte: new Date(Date.now() - 120_000) } } },
    { $group: { _id: null, newest: { $max: '$time_received' } } },
  ]);
  const newest = row?.['newest'];
  return newest instanceof Date ? newest.getTime() : undefined;
}
