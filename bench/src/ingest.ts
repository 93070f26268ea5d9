import { countReadings, startCloud } from './cloud/start-cloud.ts';
import { percentile } from './figures/statistics.ts';
import { runGenerator } from './fleet/run-generator.ts';

const readingsEach = 1_000;
const batches = 600;
const inFlight = 16;

/** Durable ingest: distinct readings in batches of 1,000, with triggers evaluating each, and counted afterwards by a query. */
export async function measureIngest(): Promise<Readonly<Record<string, number>>> {
  await using cloud = await startCloud();
  const { readings, bytes, seconds, latenciesMs } = await runGenerator(cloud, { batches, readingsEach, inFlight });
  const counted = await countReadings(cloud);
  if (counted !== readings) throw new Error(`acknowledged ${readings} readings, a query counts ${counted}`);
  return {
    readings_per_s: readings / seconds,
    megabytes_per_s: bytes / seconds / 1e6,
    bytes_per_reading: bytes / readings,
    ack_p50_ms: percentile(latenciesMs, 0.5),
    ack_p99_ms: percentile(latenciesMs, 0.99),
  };
}

const readingsPerSecond = 20_000;
const seconds = 15;

/** Acknowledgement latency at 20,000 readings/s, open loop, in batches of 1,000 and of 100; triggers on. */
export async function measureAck(): Promise<Readonly<Record<string, number>>> {
  return { ...(await atBatch(1_000)), ...(await atBatch(100)) };
}

async function atBatch(readingsEach: number): Promise<Record<string, number>> {
  await using cloud = await startCloud();
  const batchesPerSecond = readingsPerSecond / readingsEach;
  const batches = batchesPerSecond * seconds;
  const { latenciesMs, readings } = await runGenerator(cloud, {
    batches,
    readingsEach,
    inFlight: batches,
    batchesPerSecond,
  });
  const counted = await countReadings(cloud);
  if (counted !== readings) throw new Error(`acknowledged ${readings} readings, a query counts ${counted}`);
  return {
    [`batches_of_${readingsEach}_p50_ms`]: percentile(latenciesMs, 0.5),
    [`batches_of_${readingsEach}_p99_ms`]: percentile(latenciesMs, 0.99),
    [`batches_of_${readingsEach}_max_ms`]: percentile(latenciesMs, 1),
  };
}
