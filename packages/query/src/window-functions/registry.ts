/** All window functions. */

import { compileExpression } from '../execute/expressions/expression.ts';
import { evaluator, type Partition, type Walk, type Workspace } from '../execute/window/partition.ts';
import { type Expr, literal } from '../plan/expr.ts';
import { type Covariance, covariance } from './covariance.ts';
import type { WindowFunctionDefinition, WindowSpec } from './definition.ts';
import { type Derivative, derivative } from './derivative.ts';
import { type ExpMovingAvg, expMovingAvg } from './exp-moving-avg.ts';
import { fold, type WindowFold } from './fold.ts';
import { type LinearFill, type Locf, linearFill, locf } from './gap-fill.ts';
import { type Integral, integral } from './integral.ts';
import { type MinMaxScaler, minMaxScaler } from './min-max-scaler.ts';
import { type Rank, rank } from './rank.ts';
import { type Shift, shift } from './shift.ts';

/** By kind. */
interface WindowFunctions {
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

const definitions: { readonly [Kind in keyof WindowFunctions]: WindowFunctionDefinition<WindowFunctions[Kind]> } = {
  covariance,
  derivative,
  expMovingAvg,
  fold,
  integral,
  linearFill,
  locf,
  minMaxScaler,
  rank,
  shift,
};

type Syntax = Pick<WindowFunctionDefinition<WindowFunction>, 'takesWindow' | 'refusesOthers'> & {
  readonly parse: (spec: WindowSpec) => WindowFunction;
};

/** The parser of each window function, by name with the dollar. */
export const windowFunctions: ReadonlyMap<string, Syntax> = new Map(
  Object.values(definitions).flatMap((definition) => definition.names.map((name) => [name, definition] as const)),
);

export function startWindow<Kind extends keyof WindowFunctions>(
  fn: WindowFunctions[Kind] & WindowFunction,
  workspace: Workspace,
): (partition: Partition) => Walk {
  const { start }: WindowFunctionDefinition<WindowFunctions[Kind]> = definitions[fn.k as Kind];
  const input = compileExpression(inputOf(fn));
  const begin = start(fn, workspace);
  return (partition) => begin(partition, evaluator(input, partition, workspace));
}

function inputOf(fn: WindowFunction): Expr {
  if (fn.k === 'fold') return fn.accumulator.arg;
  return fn.k === 'rank' ? literal(undefined) : fn.input;
}
