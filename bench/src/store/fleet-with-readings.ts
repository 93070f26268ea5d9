/** A cloud with a fleet of 100 parts that has already uploaded readings. */
import { openCloud } from '@platform/sdk/cloud';
import { type FleetCloud, type FleetCloudOptions, startFleetCloud } from '../fleet/fleet-cloud.ts';
import { provisionFleet } from '../fleet/provision-fleet.ts';
import { type GeneratedFleet, runGenerator } from '../fleet/run-generator.ts';
import { partCount } from './questions.ts';

export const readingsEach = 1_000;

export interface FleetWithReadings extends AsyncDisposable {
  readonly cloud: FleetCloud;
  /** The fleet whose next batches follow the existing ones. */
  readonly fleet: GeneratedFleet;
  readonly readings: number;
}

/** When it resolves, a query has counted all of them. */
export async function startFleetWithReadings(
  readings: number,
  options: FleetCloudOptions = {},
): Promise<FleetWithReadings> {
  await using stack = new AsyncDisposableStack();
  const cloud = stack.use(await startFleetCloud(options));
  const { keyId, key } = cloud;
  const partIds = (await provisionFleet(cloud, partCount)).map(({ partId }) => partId);
  const batches = Math.ceil(readings / readingsEach);
  // An hour before the later readings.
  const fleet = { partIds, keyId, key, startMs: Date.now() - 3_600_000, firstBatch: 0 };
  await runGenerator({ url: cloud.running.url, fleet }, { batches, readingsEach, inFlight: 16 });
  const counted = await countOf(cloud);
  if (counted !== batches * readingsEach)
    throw new Error(`acknowledged ${batches * readingsEach} readings, a query counts ${counted}`);
  const kept = stack.move();
  return {
    cloud,
    fleet: { ...fleet, firstBatch: batches },
    readings: counted,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** Counts in the running cloud. */
export async function countOf({ running: { url }, organizationId, keyId, key }: FleetCloud): Promise<number> {
  await using client = openCloud({ url, keyId, key, timeoutMs: 120_000 });
  const [row] = await client.queryMql(organizationId, [{ $group: { _id: null, n: { $sum: 1 } } }]);
  return Number(row?.['n'] ?? 0);
}
