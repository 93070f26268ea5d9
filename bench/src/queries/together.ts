/** Durable ingest while four clients query: the whole cloud, over the wire. */
import { countReadings } from '../count-readings.ts';
import { runGenerator } from '../run-generator.ts';
import { startCloud } from '../start-cloud.ts';
import { percentile } from '../statistics.ts';
import type { Line } from './line.ts';

const readingsEach = 1_000;
const inFlight = 16;
const clients = 4;

export async function together(batches: number): Promise<Line> {
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
  const asking = Array.from({ length: clients }, client);
  const { readings, seconds, latenciesMs } = await runGenerator(cloud, { batches, readingsEach, inFlight });
  over = true;
  await Promise.all(asking);
  const counted = await countReadings(cloud);
  if (counted !== readings) throw new Error(`acknowledged ${readings} readings, a query counts ${counted}`);
  return {
    name: `ingest of ${readings} readings, ${clients} clients query`,
    ms: seconds * 1_000,
    floor: '≥ 50,000 readings/s (aim 200,000), p99 ≤ 50 ms',
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
