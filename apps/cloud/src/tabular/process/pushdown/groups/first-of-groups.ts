/**
 * The rows that `$first`, `$last`, `$top`, `$bottom` and their N variants may take: in each group the first rows of an order, with all rows
 * equal to them. From these the executor takes the same rows as from all, and each source returns few.
 */

import { type Accumulator, canFail, type GroupStage } from '@platform/query';
import { allOf } from '../all-of.ts';
import type { ConditionContext } from '../conditions/condition.ts';
import { and, or, type Sql } from '../conditions/sql.ts';
import { type OrderKey, orderKeys } from '../order/emit-top.ts';
import { keyParts } from './group-key.ts';
import { keyColumns } from './key-columns.ts';

/** Accumulators that keep more rows of a group than this are left to the executor. */
const maxRows = 1_000;

/**
 * @param where exactly the rows that are grouped
 * @returns what is joined to the rows of the files so that only these remain; undefined when another accumulator needs all rows, or
 * DuckDB's order differs from the executor's
 */
export function firstOfGroups(
  { key, accumulators }: GroupStage,
  context: ConditionContext,
  where: readonly Sql[],
  vocabulary: 'core' | 'rdk',
): Sql | undefined {
  const parts = accumulators.length === 0 ? undefined : keyParts(key, context);
  if (parts === undefined) return undefined;
  const places: Place[] = [];
  for (const [, accumulator] of accumulators) {
    const place = placeOf(accumulator, context, vocabulary);
    if (place === undefined) return undefined;
    if (!places.some(({ bound }) => bound === place.bound)) places.push(place);
  }
  const columns = keyColumns(parts.inputs, context.facts);
  const keys = columns.map((sql, n) => `${sql} AS key_${n}`);
  const bounds = places.map(({ bound }, n) => `${bound} AS bound_${n}`);
  const isKey = columns.map((sql, n) => `${sql} IS NOT DISTINCT FROM key_${n}`);
  const isFirst = places.map(({ value, sign }, n) => `${value} ${sign} bound_${n}`);
  const groups = keys.length === 0 ? '' : ' GROUP BY ALL';
  return `JOIN (SELECT ${[...keys, ...bounds].join(', ')} FROM read_parquet($1) WHERE ${and(where)}${groups}) AS firsts
ON ${and([...isKey, or(isFirst)])}`;
}

/** Selects rows in an order: those whose value is not after the bound of their group. */
interface Place {
  /** An aggregate. */
  readonly bound: Sql;
  readonly value: Sql;
  readonly sign: string;
}

const rowOrder: readonly OrderKey[] = [
  { sql: 'file_index', order: 'ASC NULLS FIRST' },
  { sql: 'file_row_number', order: 'ASC NULLS FIRST' },
];

function placeOf(
  { fn, arg, by = [], n }: Accumulator,
  context: ConditionContext,
  vocabulary: 'core' | 'rdk',
): Place | undefined {
  const isOrdered = /^(top|bottom)N?$/.test(fn);
  if (!isOrdered && !/^(first|last)N?$/.test(fn)) return undefined;
  // The executor evaluates it for every row, and an error in any row fails the query.
  if (canFail(arg)) return undefined;
  const count = countOf(n);
  const keys = isOrdered ? allOf(by, (key) => orderKeys(key, context, vocabulary))?.flat() : rowOrder;
  if (keys === undefined || count === undefined) return undefined;
  const isTop = /^(top|first)/.test(fn);
  const [only] = keys;
  // For a single number, the value itself is the sort key, which halves the work.
  if (keys.length === 1 && only?.isNumber === true)
    return placeAt(only.sql, isTop === (only.order === 'ASC NULLS FIRST'), count);
  const value = `create_sort_key(${keys.map(({ sql, order }) => `${sql}, '${order}'`).join(', ')})`;
  return placeAt(keys.length === 0 ? '0' : value, isTop, count);
}

function placeAt(value: Sql, isLeast: boolean, count: number): Place {
  const [aggregate, sign] = isLeast ? ['min', '<='] : ['max', '>='];
  return count === 1
    ? { bound: `${aggregate}(${value})`, value, sign: '=' }
    : { bound: `list_last(${aggregate}(${value}, ${count}))`, value, sign };
}

/** Undefined if it depends on the group or is too large; the executor refuses an invalid count. */
function countOf(n: Accumulator['n']): number | undefined {
  if (n === undefined) return 1;
  const value = n.k === 'lit' ? n.value : undefined;
  const count = typeof value === 'object' && value !== null && 'value' in value ? Number(value.value) : Number(value);
  return Number.isInteger(count) && count > 0 && count <= maxRows ? count : undefined;
}
