/** What $group and the stages like it compute from the rows of a group, as plain data. */

import type { Expr } from './expr.ts';
import type { SortKey } from './sort-key.ts';

export interface Accumulator {
  /** Its name in accumulators/registry.ts. */
  readonly fn: string;
  readonly arg: Expr;
  /** Each value counts once (SQL's DISTINCT). */
  readonly distinct?: boolean;
  /** How many values the accumulators that end in N keep; evaluated once for each group, over its key. */
  readonly n?: Expr;
  /**
   * The order of $top, $topN, $bottom and $bottomN, whose output is `arg`. For min and max it decides between equal values of different
   * types: the one of the first row in this order.
   */
  readonly by?: readonly SortKey[];
  /** The probabilities of $percentile, from 0 to 1. */
  readonly p?: readonly number[];
}

export type AccumulatorFields = readonly (readonly [string, Accumulator])[];
