import { setTimeout as sleep } from 'node:timers/promises';
import { type BenchCloud, startCloud } from './cloud/start-cloud.ts';
import { percentile } from './figures/statistics.ts';
import { runGenerator } from './fleet/run-generator.ts';
import { benchConfiguration } from './readings/part-configuration.ts';

const batchesPerSecond = 10;
const batches = 200;
const giveUpAfterMs = 30_000;

interface Caught {
  readonly receivedAt: number;
  readonly body: string;
}

/** Time from an upload's acknowledgement to the arrival of its webhook's head at the built-in test inbox. */
export async function measureWebhook(): Promise<Readonly<Record<string, number>>> {
  await using cloud = await startCloud(benchConfiguration('gte'));
  const { acknowledgedAt } = await runGenerator(cloud, {
    batches,
    readingsEach: 1,
    inFlight: batches,
    batchesPerSecond,
  });
  const receivedAt = await arrivals(cloud);
  const delaysMs = acknowledgedAt.map((at, batch) => (receivedAt.get(batch) ?? Number.NaN) - at);
  return {
    ack_to_first_byte_p50_ms: percentile(delaysMs, 0.5),
    ack_to_first_byte_p99_ms: percentile(delaysMs, 0.99),
    ack_to_first_byte_max_ms: percentile(delaysMs, 1),
    webhooks: receivedAt.size,
  };
}

/** Arrival time of each batch's webhook; each upload has one reading, numbered by `n`. */
async function arrivals({ client }: BenchCloud): Promise<Map<number, number>> {
  const until = performance.now() + giveUpAfterMs;
  while (performance.now() < until) {
    const { requests } = (await client.getJson('/test-inbox/requests?after=0')) as { requests: Caught[] };
    const found = new Map<number, number>();
    for (const { receivedAt, body } of requests) {
      const n = Number(/"n":(\d+)/.exec(body)?.[1] ?? Number.NaN);
      // Delivered at least once: the first arrival counts.
      if (!found.has(n)) found.set(n, receivedAt);
    }
    if (found.size >= batches) return found;
    await sleep(200);
  }
  throw new Error(`not all of ${batches} webhooks arrived within ${giveUpAfterMs} ms`);
}
