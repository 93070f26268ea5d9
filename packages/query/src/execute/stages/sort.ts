/** Stable sorting by the BSON order. An array sorts by its least element when ascending, by its greatest when descending. */

import { chunks } from '@platform/base';
import type { BsonValue } from '../../bson/value.ts';
import type { SortStage } from '../../plan/stage.ts';
import type { StageContext } from '../../stages/definition.ts';
import type { Budget } from '../limits/budget.ts';
import { sizeOf } from '../limits/size-limits.ts';
import type { Row, Rows } from '../row.ts';
import { compareKeys, sortKeysOf } from './sort-keys.ts';

interface Sorted {
  readonly row: Row;
  readonly keys: readonly BsonValue[];
  readonly order: number;
  readonly bytes: number;
}

/** Fewer rows are not cut: rows that are held for long become garbage that costs more than sorting them. */
const leastCut = 400;
/** … unless they take this many bytes: even a few documents of several MB are a lot. */
const leastCutBytes = 8 << 20;

export async function* runSort(stage: SortStage, input: Rows, { budget }: Pick<StageContext, 'budget'>): Rows {
  const top = stage.top ?? Number.POSITIVE_INFINITY;
  const compare = (left: Sorted, right: Sorted): number =>
    compareKeys(left.keys, right.keys, stage.by) || left.order - right.order;
  let kept: Sorted[] = [];
  /** With a limit: the last wanted row at the last cut. Rows that do not come before it are never wanted. */
  let last: Sorted | undefined;
  let order = 0;
  let held = 0;
  let cutBytes = leastCutBytes;
  const cutToTop = (): void => {
    kept = cut(kept.sort(compare), top, budget);
    if (kept.length === top) last = kept.at(-1);
    held = kept.reduce((sum, { bytes }) => sum + bytes, 0);
    cutBytes = Math.max(leastCutBytes, 2 * held);
  };
  for await (const rows of input) {
    for (const row of rows) {
      const keys = sortKeysOf(row.document, stage.by);
      order++;
      if (last !== undefined && compareKeys(keys, last.keys, stage.by) >= 0) continue;
      const bytes = (row.bytes?.length ?? 0) + sizeOf(row.document) + 48 * stage.by.length;
      budget.hold(bytes, '$sort');
      kept.push({ row, keys, order, bytes });
      held += bytes;
      if (held > cutBytes && kept.length > top) cutToTop();
    }
    // With a limit, sorting and cutting now and then keeps memory at twice the wanted rows.
    if (kept.length > Math.max(2 * top, leastCut)) cutToTop();
  }
  const sorted = cut(kept.sort(compare), top, budget);
  for (const some of chunks(sorted, 1000)) yield some.map(({ row }) => row);
}

function cut(sorted: Sorted[], top: number, budget: Budget): Sorted[] {
  for (const dropped of sorted.slice(top)) budget.release(dropped.bytes);
  return sorted.slice(0, top);
}
