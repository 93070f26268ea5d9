/** The first rows of an order, as ORDER BY … LIMIT in SQL. */

import { isPathColumn, isTimeColumn, type SortKey, type SortStage } from '@platform/query';
import { kind } from '../../files/file-facts.ts';
import { allOf } from '../all-of.ts';
import type { ConditionContext } from '../conditions/condition.ts';
import { isOfKind, leafAt } from '../conditions/leaf.ts';
import { timeFacts } from '../conditions/operand.ts';
import type { Sql } from '../conditions/sql.ts';
import { millisecondsSql } from '../conditions/times.ts';

/** If more rows are requested, the executor sorts: DuckDB looks up the rows of a long list one by one. */
const maxRows = 1_000;

/** Undefined when DuckDB's order differs from the executor's. Equal rows stay in the order of the files. */
export function topOf(
  { by, top }: SortStage & { readonly top: number },
  context: ConditionContext,
  vocabulary: 'core' | 'rdk',
): string | undefined {
  if (top > maxRows || top < 1) return undefined;
  const keys = allOf(by, (key) => orderKeys(key, context, vocabulary))?.flat();
  const columns = keys?.map(({ sql, order }) => `${sql} ${order}`);
  return columns && `ORDER BY ${[...columns, 'file_index', 'file_row_number'].join(', ')} LIMIT ${Math.trunc(top)}`;
}

export interface OrderKey {
  readonly sql: Sql;
  readonly order: 'ASC NULLS FIRST' | 'DESC NULLS LAST';
  /** Whether it is a number in every row. */
  readonly isNumber?: boolean;
}

/** One sort key as the equivalent keys for DuckDB. */
export function orderKeys(
  { path, descending }: SortKey,
  { facts }: ConditionContext,
  vocabulary: 'core' | 'rdk',
): readonly OrderKey[] | undefined {
  const [column = '', ...below] = path;
  const order = descending ? 'DESC NULLS LAST' : 'ASC NULLS FIRST';
  if (isTimeColumn(column) && below.length === 0) {
    const isNumber = facts.series.every((one) => one[timeFacts[column]].missing === 0);
    return [{ sql: millisecondsSql(column), order, isNumber }];
  }
  // The order would be that of the other vocabulary's spelling.
  if (isPathColumn(column)) {
    if (below.length > 0 || facts.hasPaths === false) return undefined;
    if (column === 'component_type' && vocabulary !== 'core') return undefined;
    return [{ sql: column, order }];
  }
  if (column !== 'data') return undefined;
  const leaf = leafAt(facts, below);
  if (leaf === undefined || !leaf.isKnown || leaf.isThroughArray) return undefined;
  if ((leaf.kinds & (kind.object | kind.array)) !== 0 || leaf.facts?.number?.nonFinite === true) return undefined;
  const { number, text, bool } = leaf.columns;
  const valued = [number, text, bool].filter((name) => name !== undefined);
  if (valued.length < 2) return valued.map((sql) => ({ sql, order, isNumber: leaf.kinds === kind.double }));
  // Missing and null come first, then numbers, texts and booleans.
  const ranks = [
    [kind.double, 1],
    [kind.string, 2],
    [kind.bool, 3],
  ].map(([bit = 0, rank]) => `WHEN ${isOfKind(leaf, bit)} THEN ${rank}`);
  return [`CASE ${ranks.join(' ')} ELSE 0 END`, ...valued].map((sql) => ({ sql, order }));
}
