import type { BenchCloud } from './start-cloud.ts';

/** The number of readings, according to a query, of components that start with `bench` and match `more`. */
export async function countReadings(
  { client, organizationId }: BenchCloud,
  more: Readonly<Record<string, unknown>> = {},
): Promise<number> {
  const [row] = await client.queryMql(organizationId, [
    { $match: { component_name: { $gte: 'bench', $lt: 'bencha' }, ...more } },
    { $group: { _id: null, readings: { $sum: 1 } } },
  ]);
  return Number(row?.['readings'] ?? 0);
}
