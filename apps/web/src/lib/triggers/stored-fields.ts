/** Methods and fields that a part has stored recently, for the form to suggest. */
import { runQueryRequest } from '../api/query-request.ts';
import { flatten } from '../query/flatten.ts';
import type { Row } from '../query/pipeline.ts';

/** Fields by method, such as `sensor:oven:Readings` → `heat.upper`. @throws Error with the cloud's message */
export async function storedFields(
  organizationId: string,
  partId: string,
  nowMs: number,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const mql = [
    { $match: { part_id: partId } },
    { $sort: { time_received: 1 } },
    {
      $group: {
        _id: { type: '$component_type', name: '$component_name', method: '$method_name' },
        data: { $last: '$data' },
      },
    },
    { $limit: 500 },
  ];
  const since = new Date(nowMs - 86_400_000).toISOString();
  const { rows } = await runQueryRequest({ organization_id: organizationId, format: 'json', mql, since }, signal);
  return new Map(rows.map(methodOf).toSorted(([a], [b]) => a.localeCompare(b)));
}

function methodOf({ _id, data }: Row): [string, readonly string[]] {
  const { type, name, method } = _id as Record<string, string>;
  const readings = (data as Row | undefined)?.['readings'] ?? data ?? {};
  return [`${String(type).split(':').at(-1)}:${name}:${method}`, Object.keys(flatten(readings as Row))];
}
