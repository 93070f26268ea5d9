/** Stable sorting by the BSON order. An array sorts by its least element when ascending, by its greatest when descending. */

import type { BsonValue } from '../bson/value.ts';
import type { Stage } from '../plan/stage.ts';
import type { Budget } from './budget.ts';
import type { Row } from './row.ts';
import { sizeOf } from './size.ts';
import { compareKeys, sortKeysOf } from './sort-keys.ts';

interface Sorted {
  readonly row: Row;
  readonly keys: readonly BsonValue[];
  readonly order: number;
  readonly bytes: number;
}

export async function* runSort(
  stage: Stage & { k: 'sort' },
  input: AsyncIterable<Row[]>,
  budget: Budget,
): AsyncIterable<Row[]> {
  const top = stage.top ?? Number.POSITIVE_INFINITY;
  const compare = (left: Sorted, right: Sorted): number =>
    compareKeys(left.keys, right.keys, stage.by) || left.order - right.order;
  let kept: Sorted[] = [];
  let order = 0;
  for await (const rows of input) {
    for (const row of rows) {
      const bytes = (row.bytes?.length ?? 0) + sizeOf(row.document) + 48 * stage.by.length;
      budget.hold(bytes, '$sort');
      kept.push({ row, keys: sortKeysOf(row.document, stage.by), order: order++, bytes });
    }
    // With a limit, sorting and cutting now and then keeps the memory at twice the rows wanted.
    if (kept.length > Math.max(2 * top, 10_000)) kept = cut(kept.sort(compare), top, budget);
  }
  const sorted = cut(kept.sort(compare), top, budget);
  for (let at = 0; at < sorted.length; at += 1000) yield sorted.slice(at, at + 1000).map(({ row }) => row);
}

function cut(sorted: Sorted[], top: number, budget: Budget): Sorted[] {
  for (const dropped of sorted.slice(top)) budget.release(dropped.bytes);
  return sorted.slice(0, top);
}
