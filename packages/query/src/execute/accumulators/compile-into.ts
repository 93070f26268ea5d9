/** The accumulators of one stage: closures for their arguments, and new folds for each group. */

import { BsonDocument, type Maybe } from '../../bson/value.ts';
import type { Accumulator, Into } from '../../plan/stage.ts';
import { accumulators } from '../accumulators.ts';
import { compileExpression } from '../expressions/expression.ts';
import { type Frame, newFrame } from '../expressions/scope.ts';
import type { Budget } from '../limits/budget.ts';
import { countOf } from './count-of.ts';
import type { Fold, MergingFold } from './fold.ts';
import { distinctFold } from './set.ts';

export interface CompiledInto {
  /** Folds of a new group. */
  readonly open: (key: Maybe) => readonly Fold[];
  /** @param frame has entered the row. */
  readonly add: (folds: readonly Fold[], frame: Frame, row: BsonDocument) => void;
  readonly result: (folds: readonly Fold[], document: BsonDocument) => void;
  /** Of accumulators that decompose. */
  readonly partial: (folds: readonly Fold[], document: BsonDocument) => void;
  readonly merge: (folds: readonly Fold[], partial: BsonDocument) => void;
}

export function compileInto(into: Into, budget: Budget, hold: (bytes: number) => void): CompiledInto {
  const names = into.map(([name]) => name);
  const args = into.map(([, accumulator]) => compileExpression(accumulator.arg));
  const counts = into.map(([, { n }]) => (n === undefined ? undefined : compileExpression(n)));
  const keyFrame = newFrame(budget.nowMs, () => budget.check());
  return {
    open: (key) => {
      keyFrame.root = key instanceof BsonDocument ? key : new BsonDocument();
      hold(120 * args.length);
      return into.map(([, accumulator], index) => {
        const count = counts[index];
        return newFold(accumulator, hold, count === undefined ? 1 : countOf(count(keyFrame), `$${accumulator.fn}`));
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

function newFold(accumulator: Accumulator, hold: (bytes: number) => void, n: number): Fold {
  const fold = accumulators[accumulator.fn](hold, accumulator, n);
  return accumulator.distinct === true ? distinctFold(accumulator.fn, fold, hold) : fold;
}
