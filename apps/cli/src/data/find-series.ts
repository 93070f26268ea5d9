/** What was captured on a part: the methods of its resources, with the number of readings of each. */
import { notFound } from '@platform/base/refusals';
import { type Cloud, type JsonObject, parseStages, type RowFields, readRow, Scalar } from '@platform/sdk/cloud';
import { coreApi } from './data-filter.ts';

export interface Series {
  /** Such as `rdk:component:sensor`, as the cloud sends it to this client. */
  readonly api: string;
  readonly name: string;
  readonly method: string;
  readonly rows: number;
}

export interface Wanted {
  readonly organizationId: string;
  readonly partId: string;
  /** Resource name, or `core:component:sensor/name`. Absent: all resources. */
  readonly resource?: string | undefined;
  readonly method?: string | undefined;
  /** Inclusive. */
  readonly fromMs?: number | undefined;
  /** Exclusive. */
  readonly untilMs?: number | undefined;
}

/** In a stable order; empty if the time range has no readings. @throws not_found if the part never had such readings */
export async function findSeries(data: Cloud['data'], wanted: Wanted): Promise<Series[]> {
  const { organizationId, partId, resource, method, fromMs, untilMs } = wanted;
  const [, api, name] = /^([^:/]+:[^:/]+:[^:/]+)\/(.+)$/s.exec(resource ?? '') ?? [undefined, undefined, resource];
  const named = {
    ...(api === undefined ? {} : { component_type: coreApi(api) }),
    ...(name === undefined ? {} : { component_name: name }),
    ...(method === undefined ? {} : { method_name: method }),
  };
  const count = async (conditions: readonly JsonObject[]): Promise<Series[]> => {
    const id = { api: '$component_type', name: '$component_name', method: '$method_name' };
    const stages = [
      { $match: { part_id: partId } },
      ...conditions.map((condition) => ({ $match: condition })),
      { $group: { _id: id, rows: { $sum: 1 } } },
    ];
    const mqlBinary = parseStages(JSON.stringify(stages));
    const { rawData } = await data.tabularDataByMQL({ organizationId, mqlBinary }, { timeoutMs: 0 });
    return rawData.map((bson) => seriesOf(readRow(bson)));
  };
  const found = await count([named, ...withinTime(fromMs, untilMs)]);
  // Rows without a time from their sender: the cloud exports them by the time of the request, which only the cloud knows.
  const undated =
    fromMs === undefined && untilMs === undefined
      ? []
      : await count([named, { $expr: { $lt: ['$time_received', { $date: 0 }] } }]);
  const all = new Map([...undated.map((one) => ({ ...one, rows: 0 })), ...found].map((one) => [keyOf(one), one]));
  if (all.size > 0) return [...all.keys()].toSorted(byText).flatMap((key) => all.get(key) ?? []);
  explainNone(resource, method, await count([]));
  return [];
}

export function keyOf({ api, name, method }: Pick<Series, 'api' | 'name' | 'method'>): string {
  return JSON.stringify([api, name, method]);
}

function byText(a: string, b: string): number {
  return a < b ? -1 : 1;
}

function withinTime(fromMs: number | undefined, untilMs: number | undefined): JsonObject[] {
  const date = (ms: number): JsonObject => ({ $date: { $numberLong: String(ms) } });
  const bounds = {
    ...(fromMs === undefined ? {} : { $gte: date(fromMs) }),
    ...(untilMs === undefined ? {} : { $lt: date(untilMs) }),
  };
  return Object.keys(bounds).length === 0 ? [] : [{ time_received: bounds }];
}

function seriesOf(row: RowFields): Series {
  const id = row.get('_id') as RowFields;
  const text = (name: string): string => String(id.get(name) ?? '');
  const rows = row.get('rows');
  return {
    api: text('api'),
    name: text('name'),
    method: text('method'),
    rows: rows instanceof Scalar ? Number(rows.text) : 0,
  };
}

/** Returns if only the time range has no readings. @throws not_found if the names match none */
function explainNone(resource: string | undefined, method: string | undefined, all: readonly Series[]): void {
  const isNamed = ({ api, name, method: of }: Series): boolean =>
    (resource === undefined || resource === name || coreApi(resource) === `${api}/${name}`) &&
    (method === undefined || method === of);
  if ((resource === undefined && method === undefined) || all.some(isNamed)) return;
  const names = all.slice(0, 10).map(({ name, method: of }) => `${name} ${of}`);
  const there = names.length === 0 ? 'the part has no readings' : `it has: ${names.join(', ')}`;
  const asked = [resource, method].filter((one) => one !== undefined).join(' ');
  throw notFound(`expected readings of "${asked}" on this part, found none; ${there}`);
}
