/** What defines an accumulator: how the languages write it, what it computes, and what planners may assume of it. */

import type { TypeName } from '../bson/type.ts';
import type { BsonValue } from '../bson/value.ts';
import type { OperandContext } from '../functions/definition.ts';
import type { Accumulator } from '../plan/stage.ts';
import { QueryError } from '../query-error.ts';
import type { Kind } from '../sql/types/kind.ts';
import type { NewFold } from './fold.ts';
import type { Sliding } from './sliding/sliding.ts';

export type ParseAccumulator = (operand: BsonValue, context: OperandContext) => Accumulator;

/** Every fact that is left out is the careful one. */
export interface AccumulatorDefinition {
  /** How MQL writes it: with one expression, or what parses its operand. Absent: it does not have it. */
  readonly mql?: 'expression' | ParseAccumulator;
  /** $setWindowFields does not have it. */
  readonly notInWindows?: true;
  readonly sql?: SqlAggregateSignature;
  readonly start: NewFold;
  /** Over windows that move: values that leave are taken away again. Absent: each window is folded from its first row. */
  readonly slide?: (accumulator: Accumulator, hold: (bytes: number) => void) => Sliding;
  /**
   * Rows may be folded part by part, and the parts then merged in the order of the rows (plan/partial-state.ts): its folds are merging
   * ones. `distinct`: also when each value counts once. One that depends on the order itself is named in plan/rewrite/eliminate-sort.ts.
   */
  readonly decomposes?: 'rows' | 'distinct';
  /**
   * What folds rows in any order as it would fold them sorted. `same`: itself. `oneForm`: itself, if equal values look the same.
   * `tieBreak`: itself, with the order where equal values look different. Else the accumulator that has the order as its operand.
   * Absent: the order matters, so a sort before the group stays.
   */
  readonly unsorted?: 'same' | 'oneForm' | 'tieBreak' | { readonly as: 'top' | 'bottom' | 'topN' | 'bottomN' };
}

export interface SqlAggregateSignature {
  readonly name: string;
  /** Types of the argument. Absent: any. */
  readonly takes?: readonly TypeName[];
  readonly gives: (argument: Kind) => Kind;
  /** Its values are compared with each other. */
  readonly compares?: true;
}

/** In $group an array is not taken for one expression. */
export function arrayAsOperand(name: string): QueryError {
  return new QueryError(40237, `the ${name} accumulator is a unary operator, found an array`, {
    hint: 'write an array that is a value as {$literal: […]}',
  });
}

/** By their names in plans, which are MQL's but for those that only SQL has. */
export type Accumulators = Readonly<Record<string, AccumulatorDefinition>>;
