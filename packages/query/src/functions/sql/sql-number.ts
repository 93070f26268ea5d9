/** SQL numbers: outside a function's domain, its value is null. Also parts of times. */

import { compareValues } from '../../bson/compare.ts';
import { isNullish } from '../../bson/type.ts';
import { Int32, type Maybe } from '../../bson/value.ts';
import { isWhole, type Kind, kindOf, numbers, wholeNumbers, widest } from '../../sql/types/kind.ts';
import { datePart, named, numberOrNull, numeric, ofWidestType } from '../../sql/types/signature.ts';
import { quarter } from '../dates/date-parts.ts';
import { type Eager, eager, type Functions } from '../definition.ts';
import { divide, modulo, multiply } from '../numbers/arithmetic.ts';
import * as exact from '../numbers/exact-double.ts';
import { log, squareRoot } from '../numbers/logarithms.ts';
import { toPlace } from '../numbers/rounding.ts';
import { real } from '../numbers/trigonometry.ts';
import { castLong } from './sql-cast.ts';

export const sqlNumber: Functions = {
  'sql.divide': eager({ sql: { takes: [numbers], gives: quotientKind }, size: 'bounded', folding: 'early' }, (a, b) =>
    isZero(b) ? null : divide(a, b),
  ),
  'sql.divideWhole': eager({ size: 'bounded', folding: 'early' }, divideWhole),
  'sql.mod': eager({ sql: named(numeric, ['MOD', 2, 2]), size: 'bounded' }, (a, b) =>
    isZero(b) ? null : modulo(a, b),
  ),
  'sql.negate': eager({ sql: ofWidestType, size: 'bounded', folding: 'early' }, (value) =>
    multiply(value, new Int32(-1)),
  ),
  'sql.sqrt': eager({ sql: named(numeric, ['SQRT', 1, 1]), size: 'bounded' }, (value) => {
    if (isNotANumber(value)) return Number.NaN;
    return isNullish(value) || isBelow(value, 0) ? null : squareRoot(value);
  }),
  'sql.log': eager(
    { sql: named(numeric, ['LOG', 1, 1, Math.E], ['LOG', 2, 2], ['LOG10', 1, 1, 10]) },
    (value, base) => {
      if (isNotANumber(value) || isNotANumber(base)) return isNullish(value) || isNullish(base) ? null : Number.NaN;
      const none = isNullish(value) || isNullish(base) || isBelow(value, 0, true) || isBelow(base, 0, true);
      return none || compareValues(base, 1) === 0 ? null : log(value, base);
    },
  ),
  'sql.round': eager(
    {
      sql: { names: [['ROUND', 2, 2]], takes: [numbers, wholeNumbers], gives: ([value]) => widest([value!]) },
      size: 'bounded',
    },
    (value, place) => {
      if (isNotANumber(place)) return isNullish(value) ? null : Number.NaN;
      const isOutside = isNullish(place) || isBelow(place, -20) || compareValues(place, 100) > 0;
      return isOutside ? null : toPlace([value, place], '$round');
    },
  ),
  'sql.sin': eager({ sql: named(numeric, ['SIN', 1, 1]) }, finite(real('sin', exact.sin, 'finite'))),
  'sql.cos': eager({ sql: named(numeric, ['COS', 1, 1]) }, finite(real('cos', exact.cos, 'finite'))),
  'sql.tan': eager({ sql: named(numeric, ['TAN', 1, 1]) }, finite(real('tan', exact.tan, 'finite'))),
  'sql.quarter': eager({ sql: named(datePart, ['QUARTER', 1, 1]) }, quarter),
};

/** The quotient of whole numbers is whole. */
function quotientKind(args: readonly Kind[]): Kind {
  if (!args.every(isWhole)) return numberOrNull;
  return kindOf(args.some(({ types }) => types?.has('long')) ? 'long' : 'int', 'null');
}

function isZero(value: Maybe): boolean {
  return !isNullish(value) && compareValues(value, 0) === 0;
}

/** The integer quotient of whole numbers; null if the divisor is zero or the type cannot represent it. */
function divideWhole(a: Maybe, b: Maybe): Maybe {
  if (isNullish(a) || isNullish(b) || isZero(b)) return null;
  const whole = (value: Maybe): value is Int32 | bigint => value instanceof Int32 || typeof value === 'bigint';
  // A value that a statement only asserts to be whole may be something else.
  if (!whole(a) || !whole(b)) return castLong(divide(a, b));
  const quotient = BigInt(a instanceof Int32 ? a.value : a) / BigInt(b instanceof Int32 ? b.value : b);
  const bits = a instanceof Int32 && b instanceof Int32 ? 32 : 64;
  if (BigInt.asIntN(bits, quotient) !== quotient) return null;
  return bits === 32 ? new Int32(Number(quotient)) : quotient;
}

function finite(compute: Eager): Eager {
  return (value) => {
    const endless = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY].some(
      (each) => compareValues(value, each) === 0,
    );
    return endless ? null : compute(value);
  };
}

function isNotANumber(value: Maybe): boolean {
  return compareValues(value, Number.NaN) === 0;
}

function isBelow(value: Maybe, bound: number, orEqual = false): boolean {
  const order = compareValues(value, bound);
  return order < 0 || (orEqual && order === 0);
}
