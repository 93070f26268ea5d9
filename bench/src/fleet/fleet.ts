import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { cpuSeconds, processTree, residentBytes } from '@platform/testkit';
import { cloudFlags } from '../../../apps/cli/src/up/cloud-flags.ts';
import { type ServerProcess, startProcess } from '../cloud/server-process.ts';
import { percentile } from '../figures/statistics.ts';
import { startFleetCloud } from './fleet-cloud.ts';
import { startFleetLimit } from './fleet-limit.ts';
import { type FleetPart, provisionFleet } from './provision-fleet.ts';

const periodMs = 15_000;
const generators = 2;
const sampleMs = 500;
/** The bare server shows the minimum memory and CPU time of connections; a short measurement suffices. */
const limitSeconds = 15;
/** Open files besides the connections of the machines. */
const spareFiles = 1_000;

export interface FleetGeneratorOptions {
  readonly url: string;
  readonly parts: readonly FleetPart[];
  readonly periodMs: number;
  /** Duration of the measurement. */
  readonly seconds: number;
}

export interface FleetGeneratorResult {
  /** Latency of every call that was due in the measured time, including failed and unanswered ones. */
  readonly latenciesMs: readonly number[];
  readonly errors: number;
  /** The errors of calls without an answer within the generator's waiting time. */
  readonly unanswered: number;
  /** The maximum delay of a poll: the share of latency that the generator itself may cause. */
  readonly lateMs: number;
  /** CPU cores that the generator used. */
  readonly cores: number;
}

/**
 * Parts on separate connections that ask for their configuration and restart mark every 15 s. Requirement: no errors, p99 ≤ 200 ms, resident
 * memory of the cloud ≤ 1 GiB; goal: 100 ms, 700 MB. Figures that begin with `limit_` are from a bare HTTP/2 server that gives the same
 * fleet the same bytes.
 */
export async function measureFleet({ parts: count, seconds }: Load): Promise<Readonly<Record<string, number>>> {
  requireOpenFiles(count);
  await using cloud = await startFleetCloud();
  const provisionedFrom = performance.now();
  const parts = await provisionFleet(cloud, count);
  const provisionSeconds = (performance.now() - provisionedFrom) / 1_000;
  // The fleet does not need the memory that provisioning used.
  process.kill(cloud.running.process.pid, 'SIGTERM');
  await cloud.running.process[Symbol.asyncDispose]();
  const folder = join(cloud.dataDirectory, '..');
  const load = { parts, periodMs, seconds };
  const { url, process: server } = await cloud.restart();
  const found = await poll(server, folder, { ...load, url });
  process.kill(server.pid, 'SIGTERM');
  const [part] = parts;
  if (part === undefined) throw new Error('expected at least one part');
  await server[Symbol.asyncDispose]();
  const { url: again, process: asked } = await cloud.restart();
  await using bare = await startFleetLimit({ url: again, part, file: join(folder, 'answers.json'), flags: cloudFlags });
  process.kill(asked.pid, 'SIGTERM');
  await asked[Symbol.asyncDispose]();
  const limit = await poll(bare.process, folder, { ...load, url: bare.url, seconds: Math.min(seconds, limitSeconds) });
  return {
    ...found,
    limit_errors: limit.errors,
    limit_poll_p50_ms: limit.poll_p50_ms,
    limit_poll_p99_ms: limit.poll_p99_ms,
    limit_rss_mb: limit.cloud_rss_mb,
    limit_connection_kb: limit.connection_kb,
    limit_cpu_cores: limit.cloud_cpu_cores,
    limit_cpu_us_per_call: limit.cpu_us_per_call,
    limit_generators_cpu_cores: limit.generators_cpu_cores,
    provision_s: provisionSeconds,
  };
}

interface Figures extends Readonly<Record<string, number>> {
  readonly errors: number;
  readonly poll_p50_ms: number;
  readonly poll_p99_ms: number;
  readonly cloud_rss_mb: number;
  readonly connection_kb: number;
  readonly cloud_cpu_cores: number;
  readonly cpu_us_per_call: number;
  readonly generators_cpu_cores: number;
}

/** Connects the fleet, lets it poll until the load is steady, then measures. */
async function poll(server: ServerProcess, folder: string, load: FleetGeneratorOptions): Promise<Figures> {
  const { parts, seconds } = load;
  await using stack = new AsyncDisposableStack();
  const rssBefore = residentBytes(server.pid);
  const share = Math.ceil(parts.length / generators);
  const connectedFrom = performance.now();
  const running = Array.from({ length: generators }, (_, index) => {
    const file = join(folder, `generator-${index}.json`);
    writeFileSync(file, JSON.stringify({ ...load, parts: parts.slice(index * share, (index + 1) * share) }));
    const entry = fileURLToPath(new URL('../processes/fleet-generator.ts', import.meta.url));
    return stack.use(startProcess(process.execPath, [...process.execArgv, entry, file], {}, 'inherit errors'));
  });
  await Promise.all(running.map((generator) => generator.event('connected')));
  const connectSeconds = (performance.now() - connectedFrom) / 1_000;
  await sleep(Math.min(2 * periodMs, seconds * 1_000));

  const cpuBefore = cpuSeconds(server.pid);
  const from = performance.now();
  for (const generator of running) generator.write('measure');
  let rss = 0;
  let treeRss = 0;
  while (performance.now() - from < seconds * 1_000) {
    await sleep(sampleMs);
    rss = Math.max(rss, residentBytes(server.pid));
    treeRss = Math.max(treeRss, sumOf(processTree(server.pid).map(residentBytes)));
  }
  const elapsed = (performance.now() - from) / 1_000;
  const cores = (cpuSeconds(server.pid) - cpuBefore) / elapsed;
  const results = (await Promise.all(
    running.map((generator) => generator.event('done')),
  )) as unknown as FleetGeneratorResult[];
  const latenciesMs = results.flatMap((result) => result.latenciesMs);
  const unanswered = sumOf(results.map((result) => result.unanswered));
  const callsPerSecond = (latenciesMs.length - unanswered) / seconds;
  return {
    parts: parts.length,
    errors: sumOf(results.map((result) => result.errors)),
    unanswered,
    calls_per_s: callsPerSecond,
    expected_calls_per_s: (2 * parts.length) / (periodMs / 1_000),
    poll_p50_ms: percentile(latenciesMs, 0.5),
    poll_p99_ms: percentile(latenciesMs, 0.99),
    poll_max_ms: percentile(latenciesMs, 1),
    generator_late_max_ms: Math.max(...results.map((result) => result.lateMs)),
    cloud_rss_mb: rss / 1e6,
    cloud_and_children_rss_mb: treeRss / 1e6,
    connection_kb: (rss - rssBefore) / parts.length / 1e3,
    cloud_cpu_cores: cores,
    cpu_us_per_call: (cores / callsPerSecond) * 1e6,
    generators_cpu_cores: sumOf(results.map((result) => result.cores)),
    connect_s: connectSeconds,
  };
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
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

/** The size of a fleet bench; other benches ignore it. */
export interface Load {
  /** Number of machines. */
  readonly parts: number;
  /** Duration of the measurement. */
  readonly seconds: number;
}
