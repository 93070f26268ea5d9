/** Stages of the intermediate form and the plan that they make up. Plain data. */

import type { Expr, Path } from './expr.ts';

/** What happens to a field: kept, dropped, computed, or a subtree that is treated in the same way. */
export type ShapeTree = { readonly k: 'tree'; readonly fields: readonly (readonly [string, ShapeTree | ShapeLeaf])[] };
export type ShapeLeaf = { readonly k: 'keep' } | { readonly k: 'drop' } | { readonly k: 'set'; readonly value: Expr };

export type AccumulatorName =
  | 'sum'
  | 'avg'
  | 'min'
  | 'max'
  | 'first'
  | 'last'
  | 'count'
  | 'push'
  | 'addToSet'
  /** SQL's own: null and missing are not counted, and a sum of nothing is null. */
  | 'sql.count'
  | 'sql.sum';

export interface Accumulator {
  readonly fn: AccumulatorName;
  readonly arg: Expr;
  /** Each value once (SQL's DISTINCT). */
  readonly distinct?: boolean;
}

export interface SortKey {
  readonly path: Path;
  readonly descending: boolean;
}

export type Stage =
  | { readonly k: 'filter'; readonly where: Expr }
  /** `include` and `exclude` are the two faces of $project, `set` of $addFields. */
  | { readonly k: 'shape'; readonly mode: 'include' | 'exclude' | 'set'; readonly tree: ShapeTree }
  | { readonly k: 'replace'; readonly with: Expr }
  /** With `always`, no input gives one group all the same, as SQL wants it for aggregates without GROUP BY. */
  | {
      readonly k: 'group';
      readonly key: Expr;
      readonly into: readonly (readonly [string, Accumulator])[];
      readonly always?: boolean;
    }
  /** Stable. With `top` only the first so many rows are kept. */
  | { readonly k: 'sort'; readonly by: readonly SortKey[]; readonly top?: number }
  | { readonly k: 'slice'; readonly skip: number; readonly limit?: number };

export interface Plan {
  readonly source: 'readings' | 'hot' | 'none';
  readonly stages: readonly Stage[];
}
