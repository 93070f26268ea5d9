import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { measureBacklogLimit } from '../../limits/backlog-limit.ts';
import { countReadings } from '../cloud/count-readings.ts';
import { dataManager } from '../readings/part-configuration.ts';
import type { Figure } from '../store/figure.ts';
import { startSyncMachine } from './sync-machine.ts';
import { captureFolder, writeCaptures } from './write-captures.ts';

const readingsEach = 10;
const components = 10;
const dayMs = 86_400_000;

/** How fast a machine-server sends many small capture files, from the first that is gone to the last. */
export async function measureBacklog({ files }: { readonly files: number }): Promise<Figure[]> {
  await using machine = await startSyncMachine(
    () => ({ services: [dataManager(0.1)] }),
    (home, { partId }) =>
      writeCaptures({ home, partId, files, readingsEach, components, fromMs: Date.now() - dayMs, intervalMs: 50 }),
  );
  const left = (): number => waitingFiles(captureFolder(machine.home));
  while (left() >= files) await sleep(20);
  const [startedMs, started] = [performance.now(), left()];
  while (left() > 0) await sleep(200);
  const seconds = (performance.now() - startedMs) / 1_000;
  const stored = await countReadings(machine.cloud);
  const limit = await measureBacklogLimit(Math.min(files, 20_000));
  return [
    {
      ...{
        name: `backlog of ${files} files`,
        value: started / seconds,
        unit: 'files/s',
        least: 1_000,
        aimLeast: 3_000,
      },
      ...{ beside: limit, note: 'beside: read, sent over HTTP/2 to nothing, deleted' },
    },
    {
      name: 'backlog: readings stored of those captured',
      value: (stored / (files * readingsEach)) * 100,
      unit: '%',
      least: 100,
      most: 100,
    },
  ];
}

export function waitingFiles(directory: string): number {
  let count = 0;
  for (const entry of readdirSync(directory, { withFileTypes: true }))
    if (entry.isDirectory()) count += waitingFiles(join(directory, entry.name));
    else if (entry.name.endsWith('.capture')) count++;
  return count;
}
