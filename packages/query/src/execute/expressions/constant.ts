/**
 * Constant expressions are evaluated once, when a stage is compiled, as in MongoDB. So a constant that fails is an error before any row is
 * read, even in a branch that no row takes.
 */

import type { Maybe } from '../../bson/value.ts';
import type { Evaluate } from './scope.ts';

const constants = new WeakMap<Evaluate, { readonly value: Maybe }>();

export function constant(value: Maybe): Evaluate {
  const evaluate: Evaluate = () => value;
  constants.set(evaluate, { value });
  return evaluate;
}

/** The value if the expression is a constant; undefined if it depends on the row. */
export function constantOf(evaluate: Evaluate): { readonly value: Maybe } | undefined {
  return constants.get(evaluate);
}
