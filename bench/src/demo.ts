import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { processTree, proportionalBytes, residentBytes } from '@platform/testkit';
import { scratch } from './cloud/scratch.ts';
import { type ServerProcess, startProcess } from './cloud/server-process.ts';

const settleMs = 20_000;

/** Memory of all processes of `npm start` (cloud, tabular, machine-server, command line) while only the demo uploads. */
export async function measureIdle(): Promise<Readonly<Record<string, number>>> {
  using folder = scratch();
  await using demo = startDemo(folder.path);
  await demo.event('webhook');
  await sleep(settleMs);
  const tree = processTree(demo.pid);
  const sum = (bytesOf: (pid: number) => number): number => tree.reduce((total, pid) => total + bytesOf(pid), 0) / 1e6;
  return { rss_mb: sum(residentBytes), pss_mb: sum(proportionalBytes), processes: tree.length };
}

/** Time from a first start to the first queryable reading and to the first webhook, and from a later start to `ready`. */
export async function measureStart(): Promise<Readonly<Record<string, number>>> {
  using folder = scratch();
  const first = await timed(folder.path, ['ready', 'reading', 'webhook']);
  const later = await timed(folder.path, ['ready', 'reading']);
  return {
    first_start_to_ready_s: first['ready'] ?? Number.NaN,
    first_start_to_reading_s: first['reading'] ?? Number.NaN,
    first_start_to_webhook_s: first['webhook'] ?? Number.NaN,
    later_start_to_ready_s: later['ready'] ?? Number.NaN,
    later_start_to_reading_s: later['reading'] ?? Number.NaN,
  };
}

async function timed(folder: string, events: readonly string[]): Promise<Record<string, number>> {
  const started = performance.now();
  await using demo = startDemo(folder);
  const seconds: Record<string, number> = {};
  for (const event of events) {
    await demo.event(event);
    seconds[event] = (performance.now() - started) / 1_000;
  }
  return seconds;
}

/** `npm start` without npm: the launcher with the whole demo, on a free port. */
function startDemo(folder: string): ServerProcess {
  const launcher = fileURLToPath(new URL('../../tools/run.js', import.meta.url));
  const args = [launcher, 'up', '--json', '--port', '0', '--data', join(folder, 'cloud')];
  return startProcess(process.execPath, args, { PLATFORM_HOME: join(folder, 'home') });
}
