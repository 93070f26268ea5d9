/** All window functions. */

import { compileExpression } from '../execute/expressions/expression.ts';
import { evaluator, type Partition, type Walk, type Workspace } from '../execute/window/partition.ts';
import { type Expr, literal } from '../plan/expr.ts';
import type { WindowFunction, WindowFunctions } from '../plan/window.ts';
import { covariance } from './covariance.ts';
import type { WindowFunctionDefinition, WindowSpec } from './definition.ts';
import { expMovingAvg } from './exp-moving-avg.ts';
import { fold } from './fold.ts';
import { linearFill, locf } from './gap-fill.ts';
import { minMaxScaler } from './min-max-scaler.ts';
import { rank } from './rank.ts';
import { derivative, integral } from './rate.ts';
import { shift } from './shift.ts';

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
