/** Windows of $setWindowFields and the steps of $densify. Plain data; numbers whose type counts are literals. */

import type { BsonValue } from '../bson/value.ts';
import type { WindowFunction } from '../window-functions/registry.ts';
import type { Expr, Path } from './expr.ts';
import type { SortKey } from './stage.ts';
import type { Placed } from './stage-place.ts';

export const timeUnits = [
  'year',
  'quarter',
  'month',
  'week',
  'day',
  'hour',
  'minute',
  'second',
  'millisecond',
] as const;
export type TimeUnit = (typeof timeUnits)[number];

/** A value that is known when the query is read. */
export interface Constant {
  readonly k: 'lit';
  readonly value: BsonValue | undefined;
}

export type Bound<T> = 'unbounded' | 'current' | T;

/** Which rows around a row take part, both ends included. */
export type WindowFrame =
  | { readonly k: 'documents'; readonly lower: Bound<number>; readonly upper: Bound<number> }
  /** By distance of the one sort key, whose order ascends; with a unit it is a date. */
  | { readonly k: 'range'; readonly lower: Bound<Constant>; readonly upper: Bound<Constant>; readonly unit?: TimeUnit };

export const wholePartition: WindowFrame = { k: 'documents', lower: 'unbounded', upper: 'unbounded' };

export interface WindowStage extends Placed {
  readonly k: 'window';
  readonly partitionBy?: Expr;
  readonly by: readonly SortKey[];
  readonly output: readonly (readonly [Path, WindowFunction])[];
}

export interface DensifyStage {
  readonly k: 'densify';
  readonly field: Path;
  readonly partitionBy: readonly Path[];
  readonly step: Constant;
  readonly unit?: TimeUnit;
  readonly bounds: 'full' | 'partition' | readonly [Constant, Constant];
}
