/** What defines an accumulator: how the languages write it, what it computes, and what planners may assume of it. */

import type { TypeName } from '../bson/type.ts';
import type { BsonValue } from '../bson/value.ts';
import type { OperandContext } from '../functions/definition.ts';
import type { Accumulator } from '../plan/accumulator.ts';
import { QueryError } from '../query-error.ts';
import type { Kind } from '../sql/types/kind.ts';
import type { NewFold } from './fold.ts';
import type { Sliding } from './sliding/sliding.ts';

export type ParseAccumulator = (operand: BsonValue, context: OperandContext) => Accumulator;

/** Omitting an optional property is always the safe choice. */
export interface AccumulatorDefinition {
  /** How MQL writes it: with one expression, or the parser of its operand. Absent: MQL does not have it. */
  readonly mql?: 'expression' | ParseAccumulator;
  /** $setWindowFields does not have it. */
  readonly notInWindows?: true;
  readonly sql?: SqlAggregateSignature;
  readonly start: NewFold;
  /** For moving windows: values that leave are removed from the fold. Absent: each window is folded from its first row. */
  readonly slide?: (accumulator: Accumulator, hold: (bytes: number) => void) => Sliding;
  /**
   * Rows may be folded in parts, which are then merged in the order of the rows (plan/partial-state.ts); its folds are merging ones.
   * `distinct`: even when each value counts once. An accumulator that depends on the order itself is named in
   * plan/rewrite/eliminate-sort.ts.
   */
  readonly decomposes?: 'rows' | 'distinct';
  /**
   * The accumulator that gives the same result over rows in any order as this one gives over sorted rows. `same`: itself. `oneForm`:
   * itself, if equal values look the same. `tieBreak`: itself, with the order as tie-break if equal values look different. Otherwise, the
   * accumulator that takes the order as its operand. Absent: the order matters, so a sort before the group stays.
   */
  readonly unsorted?: 'same' | 'oneForm' | 'tieBreak' | { readonly as: 'top' | 'bottom' | 'topN' | 'bottomN' };
}

export interface SqlAggregateSignature {
  readonly name: string;
  /** Accepted types of the argument. Absent: any. */
  readonly takes?: readonly TypeName[];
  readonly gives: (argument: Kind) => Kind;
  /** Its values are compared with each other. */
  readonly compares?: true;
}

/** $group does not accept an array as a single expression. */
export function arrayAsOperand(name: string): QueryError {
  return new QueryError(40237, `the ${name} accumulator is a unary operator, found an array`, {
    hint: 'write an array that is a value as {$literal: […]}',
  });
}

/** By their names in plans: MQL's names, except for those that only SQL has. */
export type Accumulators = Readonly<Record<string, AccumulatorDefinition>>;
