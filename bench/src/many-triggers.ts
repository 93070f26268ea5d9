/** Ingest of a part with 10,000 triggers none of which refers to what is uploaded, compared with none, in turns. */
import { countReadings } from './cloud/count-readings.ts';
import { startCloud } from './cloud/start-cloud.ts';
import { runGenerator } from './fleet/run-generator.ts';
import { benchConfiguration } from './readings/part-configuration.ts';

const triggers = 10_000;

export async function measureManyTriggers(): Promise<Readonly<Record<string, number>>> {
  const result: Record<string, number> = {};
  // Large uploads are limited by their readings, small ones by what each upload costs.
  for (const [readingsEach, batches] of [
    [1_000, 300],
    [10, 6_000],
  ] as const) {
    const none = await readingsPerSecond([], readingsEach, batches);
    const many = await readingsPerSecond(unrelated(), readingsEach, batches);
    result[`none_batches_of_${readingsEach}_readings_per_s`] = none;
    result[`many_batches_of_${readingsEach}_readings_per_s`] = many;
    result[`batches_of_${readingsEach}_times_of_none`] = none / many;
  }
  return result;
}

async function readingsPerSecond(given: readonly object[], readingsEach: number, batches: number): Promise<number> {
  await using cloud = await startCloud({ ...benchConfiguration('gt'), triggers: given });
  const { readings, seconds } = await runGenerator(cloud, { batches, readingsEach, inFlight: 16 });
  const counted = await countReadings(cloud);
  if (counted !== readings) throw new Error(`acknowledged ${readings} readings, a query counts ${counted}`);
  return readings / seconds;
}

function unrelated(): object[] {
  return Array.from({ length: triggers }, (_, n) => ({
    name: `t${n}`,
    event: {
      type: 'conditional_data_ingested',
      conditional: {
        data_capture_method: `sensor:other-${n}:Readings`,
        conditions: { evals: [{ operator: 'gt', value: { temperature: n } }] },
      },
    },
    notifications: [{ type: 'webhook', value: 'https://example.com/hook' }],
  }));
}
