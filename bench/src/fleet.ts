import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startFleetCloud } from './fleet-cloud.ts';
import type { Load } from './load.ts';
import { cpuSeconds, processTree, residentBytes } from './process-usage.ts';
import { type FleetPart, provisionFleet } from './provision-fleet.ts';
import { startProcess } from './server-process.ts';
import { percentile } from './statistics.ts';

const periodMs = 15_000;
const generators = 4;
const sampleMs = 500;
/** Beside the connections of the machines. */
const spareFiles = 1_000;

export interface FleetGeneratorOptions {
  readonly url: string;
  readonly parts: readonly FleetPart[];
  readonly periodMs: number;
  /** How long to measure. */
  readonly seconds: number;
}

export interface FleetGeneratorResult {
  readonly latenciesMs: readonly number[];
  readonly errors: number;
  /** How late a poll was sent at worst: what of the latencies is the generator's own. */
  readonly lateMs: number;
}

/**
 * Parts on connections of their own that ask for their configuration and restart mark every 15 s. Floor: no errors,
 * p99 ≤ 200 ms, resident memory of the cloud ≤ 1 GiB; aim: 100 ms, 700 MB.
 */
export async function measureFleet({ parts: count, seconds }: Load): Promise<Readonly<Record<string, number>>> {
  requireOpenFiles(count);
  await using cloud = await startFleetCloud();
  const provisionedFrom = performance.now();
  const parts = await provisionFleet(cloud, count);
  const provisionSeconds = (performance.now() - provisionedFrom) / 1_000;
  // What provisioning left in memory is not what the fleet needs.
  process.kill(cloud.running.process.pid, 'SIGTERM');
  await cloud.running.process[Symbol.asyncDispose]();
  const { url, process: server } = await cloud.restart();

  await using stack = new AsyncDisposableStack();
  const share = Math.ceil(parts.length / generators);
  const connectedFrom = performance.now();
  const running = Array.from({ length: generators }, (_, index) => {
    const file = join(cloud.dataDirectory, '..', `generator-${index}.json`);
    const options: FleetGeneratorOptions = {
      url,
      parts: parts.slice(index * share, (index + 1) * share),
      periodMs,
      seconds,
    };
    writeFileSync(file, JSON.stringify(options));
    const entry = fileURLToPath(new URL('./processes/fleet-generator.ts', import.meta.url));
    return stack.use(startProcess(process.execPath, [...process.execArgv, entry, file], {}, 'inherit errors'));
  });
  await Promise.all(running.map((generator) => generator.event('connected')));
  const connectSeconds = (performance.now() - connectedFrom) / 1_000;
  // Two periods, so that everything is as it stays.
  await sleep(Math.min(2 * periodMs, seconds * 1_000));

  const cpuBefore = cpuOf(server.pid);
  const from = performance.now();
  for (const generator of running) generator.write('measure');
  const done = Promise.all(running.map((generator) => generator.event('done')));
  let cloudRss = 0;
  let treeRss = 0;
  while (performance.now() - from < seconds * 1_000) {
    await sleep(sampleMs);
    cloudRss = Math.max(cloudRss, residentBytes(server.pid));
    treeRss = Math.max(
      treeRss,
      processTree(server.pid).reduce((sum, pid) => sum + residentBytes(pid), 0),
    );
  }
  const cpuShare = (cpuOf(server.pid) - cpuBefore) / ((performance.now() - from) / 1_000);
  const results = (await done) as unknown as FleetGeneratorResult[];
  const latenciesMs = results.flatMap((result) => result.latenciesMs);
  return {
    parts: parts.length,
    errors: results.reduce((sum, result) => sum + result.errors, 0),
    calls_per_s: latenciesMs.length / seconds,
    poll_p50_ms: percentile(latenciesMs, 0.5),
    poll_p99_ms: percentile(latenciesMs, 0.99),
    poll_max_ms: percentile(latenciesMs, 1),
    generator_late_max_ms: Math.max(...results.map((result) => result.lateMs)),
    cloud_rss_mb: cloudRss / 1e6,
    cloud_and_children_rss_mb: treeRss / 1e6,
    cloud_cpu_cores: cpuShare,
    connect_s: connectSeconds,
    provision_s: provisionSeconds,
  };
}

function cpuOf(pid: number): number {
  return processTree(pid).reduce((sum, one) => sum + cpuSeconds(one), 0);
}

/** Node raises its own limit as far as the system allows. */
function requireOpenFiles(count: number): void {
  const hard = /^Max open files +\S+ +(\S+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1] ?? '0';
  const limit = hard === 'unlimited' ? Number.POSITIVE_INFINITY : Number(hard);
  if (limit >= count + spareFiles) return;
  throw new Error(
    `${count} connections need ${count + spareFiles} open files in one process, the limit is ${hard}: raise it with ulimit -Hn`,
  );
}
