/**
 * 1,000 webhooks a second to 100 targets: each of ten uploads a second notifies all of them. Measures the time from the acknowledgement of
 * the upload to the arrival of a webhook's head; then the same with targets of which a fifth never answers.
 *
 * Loopback is always refused as a target, so an address of a private range is added to the loopback device while it runs, which takes root.
 */
import { execFileSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startProcess } from './cloud/server-process.ts';
import { startCloud } from './cloud/start-cloud.ts';
import { percentile } from './figures/statistics.ts';
import { runGenerator } from './fleet/run-generator.ts';
import { benchConfiguration } from './readings/part-configuration.ts';

const targets = 100;
const batchesPerSecond = 10;
const address = '10.231.77.1';
/** Time for deliveries still in progress when the uploads end. */
const settleMs = 5_000;

export async function measureDeliveries(seconds: number): Promise<Readonly<Record<string, number>>> {
  using _address = privateAddress();
  const healthy = await measureOne(seconds, targets);
  const beside = await measureOne(seconds, targets * 0.8);
  return {
    ...prefixed('all_healthy', healthy),
    ...prefixed('a_fifth_hangs', beside),
    'p99_beside_hanging_÷_p99': beside.p99 / healthy.p99,
  };
}

function prefixed(name: string, { p50, p99, most, perSecond, missing }: Figures): Record<string, number> {
  return {
    [`${name}_p50_ms`]: p50,
    [`${name}_p99_ms`]: p99,
    [`${name}_max_ms`]: most,
    [`${name}_deliveries_per_s`]: perSecond,
    [`${name}_missing`]: missing,
  };
}

interface Figures {
  readonly p50: number;
  readonly p99: number;
  readonly most: number;
  readonly perSecond: number;
  /** Webhooks to healthy targets that did not arrive. */
  readonly missing: number;
}

/** @param healthy targets that answer */
async function measureOne(seconds: number, healthy: number): Promise<Figures> {
  const entry = fileURLToPath(new URL('processes/webhook-receiver.ts', import.meta.url));
  await using receiver = startProcess(process.execPath, [...process.execArgv, entry, address, String(healthy)]);
  const { port } = await receiver.event('listening');
  const notifications = Array.from({ length: targets }, (_, target) => ({
    type: 'webhook',
    value: `http://${address}:${port}/${target}`,
  }));
  const event = { type: 'part_data_ingested', data_ingested: { data_types: ['tabular'] } };
  await using cloud = await startCloud({
    ...benchConfiguration('gt'),
    triggers: [{ name: 'all', event, notifications }],
  });
  const batches = batchesPerSecond * seconds;
  const load = { batches, readingsEach: 1, inFlight: batches, batchesPerSecond };
  const { acknowledgedAt } = await runGenerator(cloud, load);
  await sleep(settleMs);
  receiver.write('');
  const { arrivals } = (await receiver.event('received')) as unknown as { arrivals: [number, number, number][] };
  const first = new Map<string, number>();
  for (const [batch, target, at] of arrivals)
    if (target < healthy && !first.has(`${batch} ${target}`)) first.set(`${batch} ${target}`, at);
  const delaysMs = [...first].map(([key, at]) => at - (acknowledgedAt[Number.parseInt(key, 10)] ?? Number.NaN));
  return {
    p50: percentile(delaysMs, 0.5),
    p99: percentile(delaysMs, 0.99),
    most: percentile(delaysMs, 1),
    perSecond: first.size / seconds,
    missing: batches * healthy - first.size,
  };
}

function privateAddress(): Disposable {
  const ip = (verb: 'add' | 'del'): void =>
    void execFileSync('ip', ['address', verb, `${address}/32`, 'dev', 'lo'], { stdio: ['ignore', 'ignore', 'pipe'] });
  ip('add');
  return { [Symbol.dispose]: () => ip('del') };
}
