/** The share of a core that capture and sync take, for the loads of the requirements. */
import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { measureTimerLimit } from '../../limits/timer-limit.ts';
import type { BenchCloud } from '../cloud/start-cloud.ts';
import { captureConfiguration, capturing, dataManager } from '../readings/part-configuration.ts';
import type { Figure } from '../store/figure.ts';
import { measureCaptureLoad } from './capture-load.ts';

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
