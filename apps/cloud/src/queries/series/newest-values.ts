/** The newest readings of the series of a page, and how many readings each has. */
import type { JsonObject } from '@bufbuild/protobuf';
import { PlatformError } from '@platform/base';
import { BsonDate, BsonDocument, type BsonValue, encodeBson, Int32, type Scope } from '@platform/query';
import { type AskRows, numberOf } from '../readings/ask-rows.ts';
import { jsonOfDocument, type NonFinite } from '../readings/json-of-bson.ts';
import { idOf, keyOf, type ListedSeries, seriesId } from './listed-series.ts';

export interface NewestValues {
  readonly readings: number;
  /** Undefined: no reading has a time_received, or none is left. */
  readonly newestMs: number | undefined;
  /** Undefined: too large, or none is left. */
  readonly data: JsonObject | undefined;
}

/** Of one reading, as BSON: a page has up to 200. */
const mostDataBytes = 65_536;

/** By `keyOf`; a series without readings is absent. @throws like Tabular.query */
export async function newestValues(
  ask: AskRows,
  scope: Scope,
  page: readonly ListedSeries[],
  nonFinite: NonFinite,
): Promise<ReadonlyMap<string, NewestValues>> {
  if (page.length === 0) return new Map();
  const among = (values: readonly string[]): BsonDocument => BsonDocument.of({ $in: [...new Set(values)] });
  // May cover further series of these parts, which are ignored.
  const match = BsonDocument.of({
    part_id: among(page.map(({ part }) => part)),
    component_name: among(page.map(({ component }) => component)),
    method_name: among(page.map(({ method }) => method)),
  });
  const group = (sums: Readonly<Record<string, BsonValue>>) => ({
    $group: BsonDocument.of({ _id: seriesId, ...sums }),
  });
  const newestFirst = { $sort: BsonDocument.of({ time_received: new Int32(-1) }) };
  const unmetered = { unmetered: true } as const;
  const time = { newest: BsonDocument.of({ $first: '$time_received' }) };
  const data = { data: BsonDocument.of({ $first: '$data' }) };
  const [counted, newest] = await Promise.all([
    ask(scope, [{ $match: match }, group({ n: BsonDocument.of({ $sum: new Int32(1) }) })], unmetered),
    ask(scope, [{ $match: match }, newestFirst, group({ ...time, ...data })], unmetered).catch((caught: unknown) => {
      if (!(caught instanceof PlatformError) || caught.code !== 'resource_exhausted') throw caught;
      return ask(scope, [{ $match: match }, newestFirst, group(time)], unmetered);
    }),
  ]);
  const counts = new Map(counted.map((row) => [keyOf(idOf(row)), numberOf(row.get('n'))]));
  return new Map(
    newest.map((row) => {
      const key = keyOf(idOf(row));
      const at = row.get('newest');
      return [
        key,
        {
          readings: counts.get(key) ?? 0,
          newestMs: at instanceof BsonDate ? at.ms : undefined,
          data: dataOf(row.get('data'), nonFinite),
        },
      ];
    }),
  );
}

function dataOf(value: BsonValue | undefined, nonFinite: NonFinite): JsonObject | undefined {
  if (!(value instanceof BsonDocument) || encodeBson(value).length > mostDataBytes) return undefined;
  return jsonOfDocument(value, nonFinite);
}
