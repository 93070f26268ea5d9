/** One accumulator: `{$name: operand}`. */

import { arrayAsOperand } from '../accumulators/definition.ts';
import { accumulators } from '../accumulators/registry.ts';
import type { BsonValue } from '../bson/value.ts';
import type { Accumulator } from '../plan/accumulator.ts';
import { withErrorsAt } from '../query-error.ts';
import { operandContext, parseExpression } from './expression.ts';

/** The names of accumulators in MQL, with the dollar sign. */
export const accumulatorNames: readonly string[] = [...accumulators].flatMap(([fn, { mql }]) =>
  mql === undefined ? [] : [`$${fn}`],
);

/** The accumulators that $setWindowFields has as well. */
export const windowAccumulatorNames: readonly string[] = [...accumulators].flatMap(([fn, { mql, notInWindows }]) =>
  mql === undefined || notInWindows === true ? [] : [`$${fn}`],
);

/**
 * @param at position of the operand in the query. @param inWindow accepts an array as one expression. @returns undefined if no accumulator
 * has this name. @throws QueryError for an invalid operand.
 */
export function parseAccumulator(
  name: string,
  operand: BsonValue,
  at: string,
  inWindow = false,
): Accumulator | undefined {
  const fn = name.slice(1);
  const mql = name.startsWith('$') ? accumulators.get(fn)?.mql : undefined;
  return withErrorsAt({ path: at }, () => {
    if (mql !== 'expression') return mql?.(operand, operandContext(at));
    if (Array.isArray(operand) && !inWindow) throw arrayAsOperand(name);
    return { fn, arg: parseExpression(operand, at) };
  });
}
