/** Windows of $setWindowFields and the steps of $densify: plain data. Numbers whose type matters are literals. */

import type { BsonValue } from '../bson/value.ts';
import type { Unit } from '../functions/dates/date-unit.ts';
import type { WindowFunction } from '../window-functions/registry.ts';
import type { Expr, Path } from './expr.ts';
import type { SortKey } from './stage.ts';
import type { Placed } from './stage-place.ts';

/** A value that is known when the query is parsed. */
export interface Constant {
  readonly k: 'lit';
  readonly value: BsonValue | undefined;
}

export type Bound<T> = 'unbounded' | 'current' | T;

/** The rows around a row that take part, including both ends. */
export type WindowFrame =
  | { readonly k: 'documents'; readonly lower: Bound<number>; readonly upper: Bound<number> }
  /** By the distance of the only sort key, which ascends. With a unit, the key is a date. */
  | { readonly k: 'range'; readonly lower: Bound<Constant>; readonly upper: Bound<Constant>; readonly unit?: Unit };

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
  readonly unit?: Unit;
  readonly bounds: 'full' | 'partition' | readonly [Constant, Constant];
}
