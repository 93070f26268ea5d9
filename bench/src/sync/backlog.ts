import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { cpuSeconds, processTree } from '@platform/testkit';
import { scratch } from '../cloud/scratch.ts';
import { countReadings } from '../cloud/start-cloud.ts';
import { openUploader } from '../cloud/unary-session.ts';
import { mapConcurrently } from '../figures/map-concurrently.ts';
import { dataManager } from '../readings/part-configuration.ts';
import type { Figure } from '../store/figure.ts';
import { startSyncMachine } from './sync-machine.ts';
import { captureFolder, writeCaptures } from './write-captures.ts';

const readingsEach = 10;
const components = 10;
const dayMs = 86_400_000;

/** How fast a machine-server sends many small capture files, measured from the removal of the first to that of the last. */
export async function measureBacklog({ files }: { readonly files: number }): Promise<Figure[]> {
  await using machine = await startSyncMachine(
    () => ({ services: [dataManager(0.1)] }),
    (home, { partId }) =>
      writeCaptures({ home, partId, files, readingsEach, components, fromMs: Date.now() - dayMs, intervalMs: 50 }),
  );
  // Listing the folders would slow down the measured work.
  const stored = (): Promise<number> => uploadsStored(machine.cloud.url);
  while ((await stored()) === 0) await sleep(20);
  const cpu = (): readonly number[] => [cpuSeconds(machine.pid), cpuOfTree(machine.cloud.process.pid)];
  const [startedMs, before, cpuBefore] = [performance.now(), await stored(), cpu()];
  while ((await stored()) < files) await sleep(200);
  const seconds = (performance.now() - startedMs) / 1_000;
  const [ofMachine = 0, ofCloud = 0] = cpu().map(
    (used, at) => ((used - (cpuBefore[at] ?? 0)) / (files - before)) * 1e3,
  );
  while (waitingFiles(captureFolder(machine.home)) > 0) await sleep(200);
  const readings = await countReadings(machine.cloud);
  const limit = await measureBacklogLimit(Math.min(files, 20_000));
  return [
    {
      ...{
        name: `backlog of ${files} files`,
        value: (files - before) / seconds,
        unit: 'files/s',
        least: 1_000,
        aimLeast: 3_000,
      },
      ...{
        beside: limit,
        note: `beside: read, sent over HTTP/2 to nothing, deleted; CPU of a file: machine-server ${ofMachine.toFixed(2)} ms, cloud ${ofCloud.toFixed(2)} ms`,
      },
    },
    {
      name: 'backlog: readings stored of those captured',
      value: (readings / (files * readingsEach)) * 100,
      unit: '%',
      least: 100,
      most: 100,
    },
  ];
}

async function uploadsStored(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(/^platform_ingest_uploads_total (\d+)$/m.exec(text)?.[1] ?? 0);
}

function cpuOfTree(pid: number): number {
  return processTree(pid).reduce((sum, member) => sum + cpuSeconds(member), 0);
}

export function waitingFiles(directory: string): number {
  let count = 0;
  for (const entry of readdirSync(directory, { withFileTypes: true }))
    if (entry.isDirectory()) count += waitingFiles(join(directory, entry.name));
    else if (entry.name.endsWith('.capture')) count++;
  return count;
}

const fileBytes = 1_200;
const lanes = 16;

/**
 * The speed of this computer with a backlog: read small files, send each over HTTP/2 to a server that discards it, delete it. @returns
 * files a second
 */
async function measureBacklogLimit(files: number): Promise<number> {
  using folder = scratch();
  const paths = Array.from({ length: files }, (_, index) => join(folder.path, String(index % 10), `${index}`));
  for (let index = 0; index < 10; index++) mkdirSync(join(folder.path, String(index)));
  for (const path of paths) writeFileSync(path, randomBytes(fileBytes));
  const server = new Worker(fileURLToPath(new URL('../../limits/discarding-server.ts', import.meta.url)));
  const port = await new Promise<number>((resolve) => server.once('message', resolve));
  try {
    using uploader = await openUploader(`http://127.0.0.1:${port}`, 'none');
    const startedMs = performance.now();
    await mapConcurrently(lanes, files, async (index) => {
      const path = paths[index] as string;
      await uploader.upload(await readFile(path));
      await rm(path);
    });
    return files / ((performance.now() - startedMs) / 1_000);
  } finally {
    await server.terminate();
  }
}
