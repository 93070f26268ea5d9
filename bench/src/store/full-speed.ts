/** Durable ingest at full speed, with triggers evaluating each reading: rate, memory, and CPU time until everything is sealed. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { inBackground } from '@platform/base';
import { cpuSeconds, processTree, proportionalBytes, residentBytes } from '@platform/testkit';
import { median } from '../figures/statistics.ts';
import { type FleetCloud, startFleetCloud } from '../fleet/fleet-cloud.ts';
import { provisionFleet } from '../fleet/provision-fleet.ts';
import { runGenerator } from '../fleet/run-generator.ts';
import { benchConfiguration } from '../readings/part-configuration.ts';
import type { Figure } from './figure.ts';
import { countOf } from './fleet-with-readings.ts';

export interface FullSpeedOptions {
  readonly readings: number;
  readonly runs: number;
  /** Folder of another checkout of this repository, whose ingest is compared with ours. */
  readonly before?: string | undefined;
}

interface Run {
  readonly readingsPerSecond: number;
  readonly peakRss: number;
  readonly peakPss: number;
  /** CPU time per million readings. */
  readonly cpuSeconds: number;
}

const readingsEach = 1_000;
/** Long enough that uploads are sealed by their number, not their age. Short enough that waiting for the rest takes little time. */
const sealAge = '15s';

export async function fullSpeed({ readings, runs, before }: FullSpeedOptions): Promise<Figure[]> {
  const [ours, theirs]: [Run[], Run[]] = [[], []];
  for (let run = 0; run < runs; run++) {
    ours.push(await measure(readings, undefined));
    if (before !== undefined) theirs.push(await measure(readings, before));
  }
  const of = (all: readonly Run[], figure: keyof Run): number => median(all.map((run) => run[figure]));
  const rate = of(theirs, 'readingsPerSecond');
  const beside = theirs.length === 0 ? {} : { beside: rate, least: rate };
  const note = `PSS ${(of(ours, 'peakPss') / 1e6).toFixed(0)} MB; cloud and tabular process`;
  return [
    { name: 'durable ingest', value: of(ours, 'readingsPerSecond'), unit: 'readings/s', ...beside },
    { name: 'peak RSS during ingest', value: of(ours, 'peakRss') / 1e6, unit: 'MB', most: 800, aim: 500, note },
    {
      name: 'CPU of a million readings, ingested and sealed',
      ...{ value: of(ours, 'cpuSeconds'), unit: 's', most: 10, aim: 7 },
      ...(theirs.length === 0 ? {} : { beside: of(theirs, 'cpuSeconds') }),
    },
  ];
}

async function measure(readings: number, repository: string | undefined): Promise<Run> {
  const env = { PLATFORM_SEAL_AGE: sealAge };
  await using cloud = await startFleetCloud({ env, ...(repository !== undefined && { repository }) });
  const { url, process: server } = cloud.running;
  const configuration = JSON.parse(JSON.stringify(benchConfiguration('gt')).replaceAll('http://TEST-INBOX', url));
  const [part] = await provisionFleet(cloud, 1, configuration);
  if (part === undefined) throw new Error('expected a part, found none');
  const target = { url, partId: part.partId, partSecret: part.secret };
  // Warms up: a freshly started cloud still compiles its code.
  await runGenerator(target, { batches: 50, readingsEach, inFlight: 16 });
  const cpuOf = (): number => processTree(server.pid).reduce((sum, pid) => sum + cpuSeconds(pid), 0);
  const cpuBefore = cpuOf();
  await using peak = watchPeak(server.pid);
  const batches = Math.ceil(readings / readingsEach);
  const { seconds } = await runGenerator(target, { batches, readingsEach, inFlight: 16 });
  await sealed(cloud);
  const used = cpuOf() - cpuBefore;
  const counted = await countOf(cloud);
  const acknowledged = (batches + 50) * readingsEach;
  if (counted !== acknowledged) throw new Error(`acknowledged ${acknowledged} readings, a query counts ${counted}`);
  return {
    readingsPerSecond: (batches * readingsEach) / seconds,
    peakRss: peak.rss,
    peakPss: peak.pss,
    cpuSeconds: (used * 1e6) / (batches * readingsEach),
  };
}

function watchPeak(pid: number): { readonly rss: number; readonly pss: number } & AsyncDisposable {
  const peak = { rss: 0, pss: 0 };
  const watch = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      const tree = processTree(pid);
      const sum = (of: (member: number) => number): number => tree.reduce((total, member) => total + of(member), 0);
      peak.rss = Math.max(peak.rss, sum(residentBytes));
      peak.pss = Math.max(peak.pss, sum(proportionalBytes));
      await sleep(200, undefined, { signal }).catch(() => {});
    }
  };
  return Object.assign(peak, inBackground(watch));
}

/** Resolves once everything in the log is sealed. */
async function sealed({ dataDirectory }: FleetCloud): Promise<void> {
  const numberOf = (file: string, statement: string): number => {
    using database = new DatabaseSync(join(dataDirectory, file), { readOnly: true });
    return Number(Object.values(database.prepare(statement).get() ?? {})[0] ?? 0);
  };
  const last = numberOf('ingest.sqlite', 'SELECT max(position) FROM log');
  while (numberOf('meta.sqlite', 'SELECT sealed_position FROM tabular_state') < last) await sleep(250);
}
