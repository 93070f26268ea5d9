/**
 * Windows and functions of $setWindowFields, and the steps of $densify: plain data. Numbers whose type matters are literals. The parsers of
 * the functions and the code that walks a partition: window-functions/registry.ts.
 */

import type { BsonValue } from '../bson/value.ts';
import type { Unit } from '../functions/dates/date-unit.ts';
import type { Accumulator } from './accumulator.ts';
import type { Expr, Path } from './expr.ts';
import type { SortKey } from './sort-key.ts';
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

/** With `unitMs` for each unit of a date. */
export interface Rate {
  readonly input: Expr;
  readonly unitMs?: number;
  readonly frame: WindowFrame;
}

export interface Covariance {
  readonly k: 'covariance';
  readonly sample: boolean;
  readonly input: Expr;
  readonly frame: WindowFrame;
}

export interface Derivative extends Rate {
  readonly k: 'derivative';
}

/** Either N, with alpha = 2 / (N + 1), or alpha itself. */
export interface ExpMovingAvg {
  readonly k: 'expMovingAvg';
  readonly input: Expr;
  readonly n?: number;
  readonly alpha?: Constant;
}

export interface WindowFold {
  readonly k: 'fold';
  readonly accumulator: Accumulator;
  readonly frame: WindowFrame;
}

export interface Integral extends Rate {
  readonly k: 'integral';
}

export interface LinearFill {
  readonly k: 'linearFill';
  readonly input: Expr;
}

export interface Locf {
  readonly k: 'locf';
  readonly input: Expr;
}

export interface MinMaxScaler {
  readonly k: 'minMaxScaler';
  readonly input: Expr;
  readonly min: Constant;
  readonly max: Constant;
  readonly frame: WindowFrame;
}

export interface Rank {
  readonly k: 'rank';
  readonly how: 'rank' | 'denseRank' | 'documentNumber';
}

export interface Shift {
  readonly k: 'shift';
  readonly input: Expr;
  readonly by: number;
  readonly otherwise: Constant;
}

/** By kind. */
export interface WindowFunctions {
  readonly covariance: Covariance;
  readonly derivative: Derivative;
  readonly expMovingAvg: ExpMovingAvg;
  readonly fold: WindowFold;
  readonly integral: Integral;
  readonly linearFill: LinearFill;
  readonly locf: Locf;
  readonly minMaxScaler: MinMaxScaler;
  readonly rank: Rank;
  readonly shift: Shift;
}

export type WindowFunction = WindowFunctions[keyof WindowFunctions];
