/** $and, $or, $not. A constant that decides counts before all operands are asked, wherever it stands, as in MongoDB. */

import { constant, constantOf } from '../expressions/constant.ts';
import type { Evaluate } from '../expressions/scope.ts';
import { isTruthy } from '../expressions/truth.ts';
import type { Lazy } from './registry.ts';

export const boolean: Readonly<Record<string, Lazy>> = {
  'agg.and': (args) =>
    args.some((arg) => isConstantly(false, arg))
      ? constant(false)
      : (frame) => args.every((arg) => isTruthy(arg(frame))),
  'agg.or': (args) =>
    args.some((arg) => isConstantly(true, arg)) ? constant(true) : (frame) => args.some((arg) => isTruthy(arg(frame))),
  'agg.not':
    ([arg]) =>
    (frame) =>
      !isTruthy(arg!(frame)),
};

function isConstantly(truth: boolean, arg: Evaluate): boolean {
  const known = constantOf(arg);
  return known !== undefined && isTruthy(known.value) === truth;
}
