/** Stable sorting by the BSON order. An array sorts by its least element when ascending, by its greatest when descending. */

import { compareValues } from '../bson/compare.ts';
import { BsonDocument, BsonUndefined, type BsonValue, type Maybe } from '../bson/value.ts';
import type { Path } from '../plan/expr.ts';
import type { SortKey, Stage } from '../plan/stage.ts';
import { QueryError } from '../query-error.ts';
import type { Budget } from './budget.ts';
import type { Row } from './row.ts';
import { sizeOf } from './size.ts';

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
  const compare = comparator(stage.by);
  let kept: Sorted[] = [];
  let order = 0;
  for await (const rows of input) {
    for (const row of rows) {
      const bytes = (row.bytes?.length ?? 0) + sizeOf(row.document) + 48 * stage.by.length;
      budget.hold(bytes, '$sort');
      kept.push({ row, keys: keysOf(row.document, stage.by), order: order++, bytes });
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

function comparator(by: readonly SortKey[]): (left: Sorted, right: Sorted) => number {
  return (left, right) => {
    for (const [index, { descending }] of by.entries()) {
      const difference = compareValues(left.keys[index], right.keys[index]);
      if (difference !== 0) return descending ? -difference : difference;
    }
    return left.order - right.order;
  };
}

function keysOf(document: BsonDocument, by: readonly SortKey[]): BsonValue[] {
  let arrayPath: Path | undefined;
  return by.map(({ path, descending }) => {
    const values: BsonValue[] = [];
    const sawArray = collect(document, path, 0, values);
    if (sawArray !== undefined) {
      const prefix = path.slice(0, sawArray);
      // Two arrays side by side would give every pair of their elements as a key.
      if (arrayPath !== undefined && arrayPath.join('.') !== prefix.join('.')) {
        throw new QueryError('BadValue', 'cannot sort with keys that are parallel arrays', { path: path.join('.') });
      }
      arrayPath = prefix;
    }
    let best: Maybe = values[0];
    for (const value of values) {
      const order = compareValues(value, best);
      if (descending ? order > 0 : order < 0) best = value;
    }
    return best ?? null;
  });
}

/** Gathers the values that a path leads to; returns how long the path is at the first array, if there is one. */
function collect(start: Maybe, path: Path, from: number, into: BsonValue[]): number | undefined {
  let current = start;
  for (let index = from; index <= path.length; index++) {
    if (Array.isArray(current)) {
      if (current.length === 0) into.push(index === path.length ? new BsonUndefined() : null);
      const position = index < path.length && /^\d+$/.test(path[index]!) ? current[Number(path[index])] : undefined;
      if (position !== undefined) collect(position, path, index + 1, into);
      else
        for (const item of current) {
          if (index === path.length) into.push(item);
          else collect(item, path, index, into);
        }
      return index;
    }
    if (index === path.length) break;
    current = current instanceof BsonDocument ? current.get(path[index]!) : undefined;
  }
  into.push(current ?? null);
  return undefined;
}
