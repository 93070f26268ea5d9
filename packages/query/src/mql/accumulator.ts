/** One accumulator: `{$name: operand}`. */

import { arrayAsOperand } from '../accumulators/definition.ts';
import { accumulators } from '../accumulators/registry.ts';
import type { BsonValue } from '../bson/value.ts';
import type { Accumulator } from '../plan/stage.ts';
import { operandContext, parseExpression } from './expression.ts';

/** The names that MQL has, with the dollar. */
export const accumulatorNames: readonly string[] = [...accumulators].flatMap(([fn, { mql }]) =>
  mql === undefined ? [] : [`$${fn}`],
);

/** Those of them that $setWindowFields has. */
export const windowAccumulatorNames: readonly string[] = [...accumulators].flatMap(([fn, { mql, notInWindows }]) =>
  mql === undefined || notInWindows === true ? [] : [`$${fn}`],
);

/**
 * @param at where the operand is in the query. @param inWindow an array is then one expression.
 * @returns undefined for a name that is no accumulator. @throws QueryError for a faulty operand.
 */
export function parseAccumulator(
  name: string,
  operand: BsonValue,
  at: string,
  inWindow = false,
): Accumulator | undefined {
  const fn = name.slice(1);
  const mql = name.startsWith('$') ? accumulators.get(fn)?.mql : undefined;
  if (mql !== 'expression') return mql?.(operand, operandContext(at));
  if (Array.isArray(operand) && !inWindow) throw arrayAsOperand(name, at);
  return { fn, arg: parseExpression(operand, at) };
}
