/** Counts the readings in an interval, and the bytes of their documents. */
import { BsonDocument, type Scope } from '@platform/query';
import { type AskRows, numberOf, type Stages } from './ask-rows.ts';
import { shownWithin } from './dated-readings.ts';
import { datedWithin, type ExactRows, undatedWithin } from './exact-rows.ts';
import { endOfTime, type Interval, leastTime } from './interval.ts';
import { millisecondOf } from './microseconds.ts';

export async function countReadings(
  ask: AskRows,
  scopes: readonly Scope[],
  conditions: BsonDocument,
  interval: Interval,
): Promise<{ rows: number; bytes: number }> {
  const group = {
    _id: null,
    rows: BsonDocument.of({ $sum: 1 }),
    bytes: BsonDocument.of({ $sum: BsonDocument.of({ $bsonSize: '$data' }) }),
  };
  let rows = 0;
  let bytes = 0;
  for (const scope of scopes)
    for (const { stages, ...options } of partsOf(conditions, interval)) {
      const [row] = await ask(scope, [...stages, { $group: BsonDocument.of(group) }], options);
      rows += numberOf(row?.get('rows'));
      bytes += numberOf(row?.get('bytes'));
    }
  return { rows, bytes };
}

/** Whole milliseconds are counted where the rows are stored; rows in the interval's first and last millisecond are checked one by one. */
function partsOf(
  conditions: BsonDocument,
  { from, until }: Interval,
): readonly (ExactRows | { readonly stages: Stages })[] {
  if (from === undefined && until === undefined) return [{ stages: [{ $match: conditions }] }];
  const [start, end] = [from ?? leastTime, until ?? endOfTime];
  if (start >= end) return [];
  const undated = undatedWithin(conditions, start, end);
  const [firstMs, endMs] = [-millisecondOf(-start), millisecondOf(end)];
  const [first, last] = [BigInt(firstMs) * 1_000n, BigInt(endMs) * 1_000n];
  if (first > last) return [datedWithin(conditions, start, end), undated];
  return [
    ...(start < first ? [datedWithin(conditions, start, first)] : []),
    ...(first < last ? [{ stages: shownWithin(conditions, firstMs, endMs) }] : []),
    ...(last < end ? [datedWithin(conditions, last, end)] : []),
    undated,
  ];
}
