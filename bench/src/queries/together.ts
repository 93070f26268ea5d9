/** Durable ingest while four clients query: the whole cloud, over the network. */
import { countReadings, startCloud } from '../cloud/start-cloud.ts';
import { percentile } from '../figures/statistics.ts';
import { runGenerator } from '../fleet/run-generator.ts';
import type { Line } from './line.ts';

const readingsEach = 1_000;
const clients = 4;
/** Upload rate while acknowledgements are timed: the requirement. */
const batchesPerSecond = 50;

/** First as much as the cloud accepts, then acknowledgements at a given rate. */
export async function together(batches: number): Promise<Line[]> {
  const most = await run({ batches, readingsEach, inFlight: 16 });
  const paced = Math.max(batchesPerSecond * 2, Math.min(batches, batchesPerSecond * 20));
  const steady = await run({ batches: paced, readingsEach, inFlight: paced, batchesPerSecond });
  return [
    { ...most, requirement: '≥ 50,000 readings/s (aim 200,000)' },
    { ...steady, name: `${steady.name}, ${batchesPerSecond * readingsEach}/s due`, requirement: 'ack p99 ≤ 50 ms' },
  ];
}

async function run(load: Parameters<typeof runGenerator>[1]): Promise<Line> {
  await using cloud = await startCloud();
  const queriesMs: number[] = [];
  let over = false;
  const client = async (): Promise<void> => {
    while (!over) {
      const started = performance.now();
      await cloud.client.queryMql(cloud.organizationId, [
        { $match: { component_name: 'bench' } },
        { $group: { _id: '$part_id', average: { $avg: '$data.readings.temperature' }, n: { $sum: 1 } } },
      ]);
      queriesMs.push(performance.now() - started);
    }
  };
  // A freshly started cloud compiles its code and starts its tabular process: the bench `start` measures that.
  const warm = await runGenerator(cloud, { ...load, batches: batchesPerSecond * 2 });
  const asking = Array.from({ length: clients }, client);
  while (queriesMs.length < clients) await new Promise((resolve) => setTimeout(resolve, 10));
  queriesMs.length = 0;
  const { readings, seconds, latenciesMs: all } = await runGenerator(cloud, load);
  // The same applies to the first second of a generator.
  const latenciesMs = all.slice(Math.min(batchesPerSecond, all.length >> 1));
  over = true;
  await Promise.all(asking);
  const counted = await countReadings(cloud);
  const acknowledged = warm.readings + readings;
  if (counted !== acknowledged) throw new Error(`acknowledged ${acknowledged} readings, a query counts ${counted}`);
  return {
    name: `ingest of ${readings} readings, ${clients} clients query`,
    ms: seconds * 1_000,
    more: {
      'readings/s': readings / seconds,
      'ack p50 ms': percentile(latenciesMs, 0.5),
      'ack p99 ms': percentile(latenciesMs, 0.99),
      queries: queriesMs.length,
      'query p50 ms': percentile(queriesMs, 0.5),
      'query p99 ms': percentile(queriesMs, 0.99),
    },
  };
}
