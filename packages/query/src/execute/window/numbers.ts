/** Arithmetic on values of any numeric type and on dates, with the rules of the operators of the same names. */

import { isNullish } from '../../bson/type.ts';
import type { Maybe } from '../../bson/value.ts';
import { QueryError } from '../../query-error.ts';
import { eagerFunctions } from '../functions/registry.ts';

function operator(name: string): (left: Maybe, right: Maybe) => Maybe {
  return (left, right) => eagerFunctions[name]!(left, right);
}

export const plus: (left: Maybe, right: Maybe) => Maybe = operator('agg.add');
export const minus: (left: Maybe, right: Maybe) => Maybe = operator('agg.subtract');
export const times: (left: Maybe, right: Maybe) => Maybe = operator('agg.multiply');
export const over: (left: Maybe, right: Maybe) => Maybe = operator('agg.divide');

/** Null instead of a refusal when the divisor is zero. */
export function overOrNull(left: Maybe, right: Maybe): Maybe {
  if (isNullish(left) || isNullish(right)) return null;
  try {
    return over(left, right);
  } catch (error) {
    if (error instanceof QueryError && error.codeName === 'BadValue') return null;
    throw error;
  }
}
