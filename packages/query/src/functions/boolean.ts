/** $and, $or, $not. A constant that decides takes effect before any operand is evaluated, wherever it stands, as in MongoDB. */

import { constant, constantOf } from '../execute/expressions/constant.ts';
import type { Evaluate } from '../execute/expressions/scope.ts';
import { isTruthy } from '../execute/expressions/truth.ts';
import { atLeast, type Functions, lazy } from './definition.ts';

export const boolean: Functions = {
  'agg.and': lazy({ mql: atLeast(0), size: 'bounded', neverFails: true, numberTypes: 'none' }, (args) =>
    args.some((arg) => isConstantly(false, arg))
      ? constant(false)
      : (frame) => args.every((arg) => isTruthy(arg(frame))),
  ),
  'agg.or': lazy({ mql: atLeast(0), size: 'bounded', neverFails: true, numberTypes: 'none' }, (args) =>
    args.some((arg) => isConstantly(true, arg)) ? constant(true) : (frame) => args.some((arg) => isTruthy(arg(frame))),
  ),
  'agg.not': lazy(
    { mql: 1, size: 'bounded', neverFails: true, numberTypes: 'none' },
    ([arg]) =>
      (frame) =>
        !isTruthy(arg!(frame)),
  ),
};

function isConstantly(truth: boolean, arg: Evaluate): boolean {
  const known = constantOf(arg);
  return known !== undefined && isTruthy(known.value) === truth;
}
