/**
 * Ingest of a part in an organization with 10,000 triggers, none of which refers to the uploaded data, compared with none, in turns. The
 * part has as many of them as fit into one configuration, and other machines have the rest.
 */
import { AppService } from '@platform/proto/platform/app/v1/app';
import { connect } from '@platform/rpc/client';
import { type BenchCloud, countReadings, startCloud } from './cloud/start-cloud.ts';
import { runGenerator } from './fleet/run-generator.ts';
import { benchConfiguration } from './readings/part-configuration.ts';

const triggers = 10_000;
/** A configuration has at most 4 MiB. */
const perPart = 4_000;

export async function measureManyTriggers(): Promise<Readonly<Record<string, number>>> {
  const result: Record<string, number> = {};
  // Large uploads are limited by their readings, small ones by the cost of each upload.
  for (const [readingsEach, batches] of [
    [1_000, 300],
    [10, 6_000],
  ] as const) {
    const none = await readingsPerSecond(0, readingsEach, batches);
    const many = await readingsPerSecond(triggers, readingsEach, batches);
    result[`none_batches_of_${readingsEach}_readings_per_s`] = none;
    result[`many_batches_of_${readingsEach}_readings_per_s`] = many;
    result[`batches_of_${readingsEach}_times_of_none`] = none / many;
  }
  return result;
}

async function readingsPerSecond(given: number, readingsEach: number, batches: number): Promise<number> {
  await using cloud = await startCloud({ ...benchConfiguration('gt'), triggers: unrelated(Math.min(given, perPart)) });
  for (let rest = given - perPart; rest > 0; rest -= perPart) await addMachine(cloud, Math.min(rest, perPart));
  const { readings, seconds } = await runGenerator(cloud, { batches, readingsEach, inFlight: 16 });
  const counted = await countReadings(cloud);
  if (counted !== readings) throw new Error(`acknowledged ${readings} readings, a query counts ${counted}`);
  return readings / seconds;
}

async function addMachine({ url, keyId, key, partId }: BenchCloud, count: number): Promise<void> {
  await using link = connect({ baseUrl: url, credentials: { entity: keyId, type: 'api-key', payload: key } });
  const app = link.client(AppService);
  const { part } = await app.getRobotPart({ id: partId });
  const { id: robotId } = await app.newRobot({
    name: `other-${count}-${Date.now()}`,
    location: part?.locationId ?? '',
  });
  const { parts } = await app.getRobotParts({ robotId });
  const robotConfigJson = JSON.stringify({ triggers: unrelated(count) });
  await app.updateRobotPart({ id: parts[0]?.id ?? '', name: 'main', robotConfigJson });
}

function unrelated(count: number): object[] {
  return Array.from({ length: count }, (_, n) => ({
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
