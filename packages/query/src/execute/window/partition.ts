/** The rows of a partition in their order, and how a window function walks over them. */

import type { BsonDocument, BsonValue, Maybe } from '../../bson/value.ts';
import type { SortKey } from '../../plan/sort-key.ts';
import { type Evaluate, enterRow, type Frame, step } from '../expressions/scope.ts';
import type { Budget } from '../limits/budget.ts';

export interface Partition {
  readonly documents: readonly BsonDocument[];
  /** The sort keys of each row. An array is represented by the element it is sorted by. */
  readonly keys: readonly (readonly BsonValue[])[];
  readonly by: readonly SortKey[];
}

/** What a window function needs besides the rows. */
export interface Workspace {
  readonly frame: Frame;
  readonly budget: Budget;
  /** Bytes kept, or released if negative. */
  readonly hold: (bytes: number) => void;
  /** Steps of work done, so that the stage can pause in time. */
  readonly worked: (steps: number) => void;
}

/** Returns the value of each row. It is called once for each index, from 0 upwards. */
export type Walk = (index: number) => Maybe;

/** Starts on a partition; the input's value in each row is given. @throws QueryError if its values are refused. */
export type StartWalk = (partition: Partition, value: Walk) => Walk;

export function evaluator(evaluate: Evaluate, partition: Partition, { frame }: Workspace): Walk {
  return (index) => {
    enterRow(frame, partition.documents[index]!);
    step(frame);
    return evaluate(frame);
  };
}

/** The path of the single field that the stage sorts by. */
export function sortPath(by: readonly SortKey[]): readonly string[] {
  return by[0]?.path ?? [];
}
