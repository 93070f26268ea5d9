/** The accumulators of one stage: closures for their arguments, and new folds for each group. */

import { BsonDocument, type Maybe } from '../bson/value.ts';
import { compileExpression } from '../execute/expressions/expression.ts';
import { type Frame, newFrame } from '../execute/expressions/scope.ts';
import type { Budget } from '../execute/limits/budget.ts';
import type { Accumulator, AccumulatorFields } from '../plan/accumulator.ts';
import type { Fold, MergingFold } from './fold.ts';
import { countOf } from './n-operands.ts';
import { accumulatorOf } from './registry.ts';
import { distinctFold } from './set.ts';

export interface CompiledAccumulators {
  /** Folds for a new group. */
  readonly open: (key: Maybe) => readonly Fold[];
  /** @param frame has entered the row. */
  readonly add: (folds: readonly Fold[], frame: Frame, row: BsonDocument) => void;
  readonly result: (folds: readonly Fold[], document: BsonDocument) => void;
  /** For accumulators that decompose. */
  readonly partial: (folds: readonly Fold[], document: BsonDocument) => void;
  readonly merge: (folds: readonly Fold[], partial: BsonDocument) => void;
}

export function compileAccumulators(
  accumulators: AccumulatorFields,
  budget: Budget,
  hold: (bytes: number) => void,
): CompiledAccumulators {
  const names = accumulators.map(([name]) => name);
  const args = accumulators.map(([, accumulator]) => compileExpression(accumulator.arg));
  const starts = accumulators.map(([, accumulator]) => startOf(accumulator));
  const counts = accumulators.map(([, { n }]) => (n === undefined ? undefined : compileExpression(n)));
  const keyFrame = newFrame(budget.nowMs, () => budget.check());
  return {
    open: (key) => {
      keyFrame.root = key instanceof BsonDocument ? key : new BsonDocument();
      hold(120 * args.length);
      return starts.map((start, index) => {
        const count = counts[index];
        return start(hold, count === undefined ? 1 : countOf(count(keyFrame), `$${accumulators[index]![1].fn}`));
      });
    },
    add: (folds, frame, row) => {
      for (let index = 0; index < args.length; index++) folds[index]!.add(args[index]!(frame), row);
    },
    result: (folds, document) => {
      for (const [index, name] of names.entries()) document.set(name, folds[index]!.result());
    },
    partial: (folds, document) => {
      for (const [index, name] of names.entries()) document.set(name, merging(folds[index]!).partial());
    },
    merge: (folds, partial) => {
      for (const [index, name] of names.entries()) {
        const state = partial.get(name);
        if (state === undefined) throw new Error(`expected a state of ${name} in a partial group, found none`);
        merging(folds[index]!).merge(state);
      }
    },
  };
}

function merging(fold: Fold): MergingFold {
  if (isMerging(fold)) return fold;
  throw new Error('expected accumulators that decompose, found another one');
}

function isMerging(fold: Fold): fold is MergingFold {
  return 'merge' in fold && 'partial' in fold;
}

function startOf(accumulator: Accumulator): (hold: (bytes: number) => void, n: number) => Fold {
  const { start } = accumulatorOf(accumulator.fn);
  if (accumulator.distinct !== true) return (hold, n) => start(hold, accumulator, n);
  return (hold, n) => distinctFold(accumulator.fn, start(hold, accumulator, n), hold);
}
