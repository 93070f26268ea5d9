/** Windows of $setWindowFields and the steps of $densify. Plain data; numbers whose type counts are literals. */

import type { BsonValue } from '../bson/value.ts';
import type { Expr, Path } from './expr.ts';
import type { Accumulator, SortKey } from './stage.ts';
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

export type WindowFunction =
  | { readonly k: 'fold'; readonly accumulator: Accumulator; readonly frame: WindowFrame }
  | { readonly k: 'covariance'; readonly sample: boolean; readonly input: Expr; readonly frame: WindowFrame }
  /** Slope between the ends of the window, or area under it; with `unitMs` for each unit of a date. */
  | {
      readonly k: 'derivative' | 'integral';
      readonly input: Expr;
      readonly unitMs?: number;
      readonly frame: WindowFrame;
    }
  | {
      readonly k: 'minMaxScaler';
      readonly input: Expr;
      readonly min: Constant;
      readonly max: Constant;
      readonly frame: WindowFrame;
    }
  | { readonly k: 'rank' | 'denseRank' | 'documentNumber' }
  | { readonly k: 'shift'; readonly input: Expr; readonly by: number; readonly otherwise: Constant }
  /** Either N, of which alpha is 2 / (N + 1), or alpha itself. */
  | { readonly k: 'expMovingAvg'; readonly input: Expr; readonly n?: number; readonly alpha?: Constant }
  | { readonly k: 'linearFill' | 'locf'; readonly input: Expr };

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
