/** The share of a core that capture and sync take, for the loads of the requirements. */
import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { GapReason } from '@platform/proto/platform/gaps/v1/gaps';
import { cpuSeconds } from '@platform/testkit';
import { type BenchCloud, countReadings } from '../cloud/start-cloud.ts';
import { captureConfiguration, capturing, dataManager } from '../readings/part-configuration.ts';
import type { Figure } from '../store/figure.ts';
import { startSyncMachine } from './sync-machine.ts';

export async function measureFastCollector({ seconds }: { readonly seconds: number }): Promise<Figure[]> {
  const limit = await measureTimerLimit(Math.min(seconds, 10));
  const load = await measureCaptureLoad(() => captureConfiguration(1, 1_000), seconds);
  const ticks = load.wholeSeconds * 1_000;
  return [
    {
      ...{ name: '1 kHz: ticks that became readings', value: load.storedPerSecond / 10, unit: '%', least: 95 },
      ...{ beside: limit.percentOfTicks, note: 'beside: a bare timer every 5 ms that takes what is due' },
    },
    {
      ...{ name: '1 kHz: ticks neither stored nor counted as missed', unit: '%', most: 0.1 },
      ...{ value: (Math.abs(ticks + 1 - load.stored - load.missed) / ticks) * 100, note: `${load.missed} counted` },
    },
    { name: '1 kHz: share of a core', value: load.percent, unit: '%', most: 15, beside: limit.percentOfCore },
  ];
}

export async function measureManyCollectors({ seconds }: { readonly seconds: number }): Promise<Figure[]> {
  const load = await measureCaptureLoad(() => captureConfiguration(200, 2_000), seconds);
  return [
    {
      ...{ name: '200 collectors at 10 Hz: share of a core', value: load.percent, unit: '%', most: 15, aim: 6 },
      note: `${load.storedPerSecond.toFixed(0)} readings/s stored, ${load.missed} counted as missed`,
    },
  ];
}

export async function measureThousand({ seconds }: { readonly seconds: number }): Promise<Figure[]> {
  const load = await measureCaptureLoad(() => captureConfiguration(10, 1_000), seconds);
  return [
    {
      ...{ name: '1,000 readings/s of ten sensors: share of a core', value: load.percent, unit: '%', aim: 3 },
      note: `${load.storedPerSecond.toFixed(0)} readings/s stored, ${load.missed} counted as missed`,
    },
  ];
}

/** The same load, measured by itself. */
export async function measureCapture(): Promise<Readonly<Record<string, number>>> {
  const { percent, storedPerSecond } = await measureCaptureLoad(() => captureConfiguration(10, 1_000), 24);
  return { percent_of_a_core: percent, readings_stored_per_s: storedPerSecond };
}

const imageBytes = 100_000;
const imagesPerSecond = 30;

export async function measureCamera({ seconds }: { readonly seconds: number }): Promise<Figure[]> {
  const load = await measureCaptureLoad(cameraConfiguration, seconds, countImages);
  return [
    { name: 'camera, 30 images/s of 100 kB: share of a core', value: load.percent, unit: '%', most: 15 },
    { name: 'camera: images stored', value: (load.storedPerSecond / imagesPerSecond) * 100, unit: '%', least: 95 },
  ];
}

function cameraConfiguration(folder: string): object {
  const path = join(folder, 'images');
  mkdirSync(path);
  for (let image = 0; image < 10; image++)
    writeFileSync(
      join(path, `${image}.jpg`),
      Buffer.concat([Buffer.from('ffd8ffe0', 'hex'), randomBytes(imageBytes - 4)]),
    );
  const camera = {
    ...{ name: 'bench', api: 'core:component:camera', model: 'core:builtin:image_file', attributes: { path } },
    service_configs: [capturing('GetImages', imagesPerSecond)],
  };
  return { components: [camera], services: [dataManager(0.1)] };
}

async function countImages(
  { client, organizationId }: BenchCloud,
  filter: Readonly<Record<string, unknown>> = {},
): Promise<number> {
  const { $gte: start, $lt: end } = filter['time_received'] as { $gte: Date; $lt: Date };
  const time = (date: Date) => ({
    seconds: BigInt(Math.floor(date.getTime() / 1_000)),
    nanos: (date.getTime() % 1_000) * 1e6,
  });
  const { count } = await client.data.binaryDataByFilter({
    dataRequest: { filter: { organizationIds: [organizationId], interval: { start: time(start), end: time(end) } } },
    countOnly: true,
  });
  return Number(count);
}

const timerMs = 5;

/** The limit of a bare timer every 5 ms that takes the due ticks of a 1 ms grid, like a collector at 1 kHz. */
async function measureTimerLimit(
  seconds: number,
): Promise<{ readonly percentOfTicks: number; readonly percentOfCore: number }> {
  const [startedMs, before] = [performance.now(), process.cpuUsage()];
  let taken = 0;
  const timer = setInterval(() => {
    const due = Math.floor(performance.now() - startedMs) - taken;
    if (due > 0) taken += due;
  }, timerMs);
  await sleep(seconds * 1_000);
  clearInterval(timer);
  const passedMs = performance.now() - startedMs;
  const { user, system } = process.cpuUsage(before);
  return { percentOfTicks: (taken / passedMs) * 100, percentOfCore: ((user + system) / 1_000 / passedMs) * 100 };
}

const warmUpMs = 8_000;
/** Longer than a sync interval, and than the time between two reports of gaps. */
const untilSyncedMs = 12_000;

interface CaptureLoad {
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
async function measureCaptureLoad(
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
