/** What a compiled expression reads while it runs, and how compilation assigns slots to variables. */

import type { BsonDocument, Maybe } from '../../bson/value.ts';

/** One for each execution of a stage; the fields change from row to row. */
export interface Frame {
  /** The row; in `match.elem`, the array element. */
  root: Maybe;
  /** What $geoNear found for the row. */
  near: BsonDocument | undefined;
  /** Values of bound variables by slot. */
  readonly slots: Maybe[];
  /** Start of the query, milliseconds since 1970 UTC: the same for all rows. */
  readonly nowMs: number;
  /** Bytes of the values that expressions have built for this row. */
  builtBytes: number;
  /** Rows, and iterations of loops in them, so far. */
  steps: number;
  /** Ends a query whose time is up. */
  readonly check: () => void;
}

export type Evaluate = (frame: Frame) => Maybe;

/** Names of bound variables → slots; an inner binding hides an outer one of the same name. */
export type Slots = ReadonlyMap<string, number>;

/** Moves on to the next row. */
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
 * Counts a row, or an iteration of a loop inside one; nested loops could otherwise run for hours between two rows. An iteration may process
 * a text of a megabyte, so the clock is checked after few of them.
 */
export function step(frame: Frame): void {
  if ((++frame.steps & 15) === 0) frame.check();
}
