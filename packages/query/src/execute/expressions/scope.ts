/** What a compiled expression reads while it runs, and how variables get their places when it is compiled. */

import type { BsonDocument, Maybe } from '../../bson/value.ts';

/** One for each executor of a stage; the fields change from row to row. */
export interface Frame {
  /** The row; in `match.elem`, the array element. */
  root: Maybe;
  /** What $geoNear found of the row. */
  near: BsonDocument | undefined;
  /** Values of bound variables by slot. */
  readonly slots: Maybe[];
  /** Start of the query, milliseconds since 1970 UTC: the same for all rows. */
  readonly nowMs: number;
  /** Bytes of the values that expressions built for this row so far. */
  builtBytes: number;
  /** Rows, and rounds of loops in them, so far. */
  steps: number;
  /** Ends a query whose time is up. */
  readonly check: () => void;
}

export type Evaluate = (frame: Frame) => Maybe;

/** Names of bound variables → slots; an inner binding hides an outer one of the same name. */
export type Slots = ReadonlyMap<string, number>;

/** Goes on to the next row. */
export function enterRow(frame: Frame, root: Maybe, near?: BsonDocument): void {
  frame.root = root;
  frame.near = near;
  frame.builtBytes = 0;
  step(frame);
}

export function newFrame(nowMs: number, check: () => void = () => {}): Frame {
  return { root: undefined, near: undefined, slots: [], nowMs, builtBytes: 0, steps: 0, check };
}

/**
 * Counts a row, or a round of a loop inside one; loops in loops may otherwise run for hours between two rows.
 * A round may go through a text of a megabyte, so few of them pass between two looks at the clock.
 */
export function step(frame: Frame): void {
  if ((++frame.steps & 15) === 0) frame.check();
}
