/** The cost of metering uploads: CPU time of the whole process while it follows a log that is already in memory. */
import { silentLog, systemClock } from '@platform/base';
import { meterUploads } from '../../../apps/cloud/src/billing/meter/meter-uploads.ts';
import { migrations } from '../../../apps/cloud/src/metadata/migrations.ts';
import { openMetadata } from '../../../apps/cloud/src/metadata/open-metadata.ts';
import { throwUncaught } from '../../../apps/cloud/src/metadata/testing/throw-uncaught.ts';
import { logged } from '../../../apps/cloud/src/triggers/testing/logged.ts';
import { MemoryLog } from '../../../apps/cloud/src/triggers/testing/memory-log.ts';
import { scratch } from '../cloud/scratch.ts';
import { median } from '../figures/statistics.ts';
import type { Figure } from '../store/figure.ts';

/** The cases of the meter's requirement: per reading, in uploads as machines send them, and in small ones. */
const sizes = [250, 10];
const distinct = 64;

export async function metering(load: { readonly readings: number; readonly runs: number }): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const each of sizes) {
    const costs: number[] = [];
    for (let run = 0; run < load.runs; run++) costs.push(await costOf(each, load.readings));
    figures.push({
      ...{ name: `metering a reading, ${each} in an upload`, value: median(costs), unit: 'µs', most: 0.3 },
      note: `CPU of all threads, ${load.readings} readings; runs ${costs.map((cost) => cost.toFixed(3)).join(' ')}`,
    });
  }
  return figures;
}

/** Microseconds of CPU time per reading. */
async function costOf(each: number, readings: number): Promise<number> {
  using folder = scratch();
  const log = new MemoryLog();
  const frames = Array.from({ length: distinct }, (_, frame) =>
    logged({
      syncedAtMs: Date.UTC(2027, 0, 1) + frame * 600_000,
      readings: Array.from({ length: each }, (_reading, n) => ({
        readings: { n, temperature: 20 + Math.sin(n), humidity: 40 + (n % 977) / 31, door: n % 2 === 0 },
      })),
    }),
  );
  const uploads = Math.ceil(readings / each);
  for (let n = 0; n < uploads; n++) log.append(frames[n % distinct] as Uint8Array);
  const file = `${folder.path}/meta.sqlite`;
  await using metadata = await openMetadata({
    file,
    migrations,
    clock: systemClock,
    log: silentLog,
    onFatal: throwUncaught,
  });
  await using meter = meterUploads({ db: metadata.db, ingestLog: log, clock: systemClock, log: silentLog });
  await meter.steps.open();
  const before = process.cpuUsage();
  while (await meter.steps.next());
  await meter.steps.flush();
  const { user, system } = process.cpuUsage(before);
  if (log.damaged.length > 0) throw new Error(`expected uploads that can be read, found ${log.damaged.length} others`);
  return (user + system) / (uploads * each);
}
