/** The rows of a partition in their order, and how a window function walks them. */

import type { BsonDocument, BsonValue, Maybe } from '../../bson/value.ts';
import type { SortKey } from '../../plan/stage.ts';
import { type Evaluate, enterRow, type Frame, step } from '../expressions/scope.ts';
import type { Budget } from '../limits/budget.ts';

export interface Partition {
  readonly documents: readonly BsonDocument[];
  /** What each row sorted by: arrays are replaced by the element that counted. */
  readonly keys: readonly (readonly BsonValue[])[];
  readonly by: readonly SortKey[];
}

/** What a window function needs besides the rows. */
export interface Workspace {
  readonly frame: Frame;
  readonly budget: Budget;
  /** Bytes kept, or given back when negative. */
  readonly hold: (bytes: number) => void;
  /** Steps of work done, so that the stage pauses in time. */
  readonly worked: (steps: number) => void;
}

/** Gives the value of each row in turn: asked for every index once, from 0 upwards. */
export type Walk = (index: number) => Maybe;

/** Starts on a partition. @throws QueryError when its values are refused. */
export type StartWalk = (partition: Partition) => Walk;

export function evaluator(evaluate: Evaluate, partition: Partition, { frame }: Workspace): (index: number) => Maybe {
  return (index) => {
    enterRow(frame, partition.documents[index]!);
    step(frame);
    return evaluate(frame);
  };
}

/** The value of the one field by which the stage sorts, as an expression reads it. */
export function sortPath(by: readonly SortKey[]): readonly string[] {
  return by[0]?.path ?? [];
}
