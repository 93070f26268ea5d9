/** Stages that only SQL has: they add rows of other sources, or literal rows, to those of a plan. */

import type { Expr } from './expr.ts';
import type { Plan } from './stage.ts';

/** Rows that are written in the statement. */
export interface ValuesStage {
  readonly k: 'values';
  readonly rows: readonly Expr[];
}

/** One row for each pair of rows that meets the condition, with the fields of both; `left` keeps rows without a partner. */
export interface JoinStage {
  readonly k: 'join';
  readonly how: 'inner' | 'left';
  readonly right: Plan;
  /** Refers to the fields of both rows. */
  readonly on?: Expr;
  /** Values of the left row and of the right row that are equal whenever the condition holds. */
  readonly equal: readonly (readonly [left: Expr, right: Expr])[];
}

/** The answer of a subquery for each row, as a field. The subquery's rows have one field, `v`. */
export interface LookupStage {
  readonly k: 'lookup';
  readonly right: Plan;
  /** Variables of the subquery's plan and their values in the row. */
  readonly let: readonly (readonly [name: string, value: Expr])[];
  readonly as: string;
  /** The first row's value, all rows' values (missing ones as null), or whether there is a row. */
  readonly gives: 'value' | 'values' | 'exists';
}

/** The rows of another plan after those of this one. */
export interface UnionStage {
  readonly k: 'union';
  readonly right: Plan;
}
