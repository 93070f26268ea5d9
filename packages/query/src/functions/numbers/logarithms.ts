/** $exp, $ln, $log, $log10, $sigmoid, $sqrt: doubles, and decimals for decimals. */

import { add, divide, negated } from '../../bson/decimal-arithmetic.ts';
import { decimalExp, decimalLn, decimalLog10, decimalSqrt } from '../../bson/decimal-functions.ts';
import { isNullish, isNumeric, typeName } from '../../bson/type.ts';
import type { Decimal128, Maybe } from '../../bson/value.ts';
import { call } from '../../plan/expr.ts';
import { QueryError } from '../../query-error.ts';
import { type Eager, eager, type Functions } from '../definition.ts';
import { exp, ln } from './exact-double.ts';
import { isDecimal, isNan, type Numeric, signOf, toDecimal, toDouble } from './number.ts';

export const squareRoot: Eager = real('$sqrt', Math.sqrt, decimalSqrt, (value) => {
  if (signOf(value) < 0) throw new QueryError(28714, '$sqrt takes numbers that are not negative');
});

export const logarithms: Functions = {
  'agg.exp': eager({ mql: 1 }, real('$exp', exp, decimalExp)),
  'agg.ln': eager(
    { mql: 1 },
    real('$ln', ln, decimalLn, (value) => above(value, 28766, '$ln')),
  ),
  'agg.log10': eager(
    { mql: 1 },
    real('$log10', Math.log10, decimalLog10, (value) => above(value, 28761, '$log10')),
  ),
  'agg.sqrt': eager({ mql: 1, size: 'bounded' }, squareRoot),
  'agg.log': eager({ mql: 2 }, log),
  // A list is a single value here, and not a number.
  'agg.sigmoid': eager(
    { mql: (operand, { at, parse }) => call('agg.sigmoid', [parse(operand)], at) },
    real('$sigmoid', (x) => 1 / (1 + exp(-x)), decimalSigmoid, undefined, 14),
  ),
};

const unity: Decimal128 = toDecimal(1n);

function decimalSigmoid(value: Decimal128): Decimal128 {
  return divide(unity, add(unity, decimalExp(negated(value))));
}

/** Null for null; `check` refuses values outside the domain. */
function real(
  name: string,
  onDouble: (value: number) => number,
  onDecimal: (value: Decimal128) => Decimal128,
  check: (value: Numeric) => void = () => {},
  notNumeric = 28765,
): Eager {
  return (value) => {
    if (isNullish(value)) return null;
    if (!isNumeric(value)) {
      throw new QueryError(notNumeric, `${name} only supports numeric types, not ${typeName(value)}`);
    }
    check(value);
    return isDecimal(value) ? onDecimal(value) : onDouble(toDouble(value));
  };
}

function above(value: Numeric, code: number, name: string): void {
  if (!(signOf(value) > 0) && !isNan(value)) throw new QueryError(code, `${name} takes numbers above zero`);
}

export function log(value: Maybe, base: Maybe): Maybe {
  if (isNullish(value) || isNullish(base)) return null;
  if (!isNumeric(value)) throw new QueryError(28756, `$log's argument must be numeric, not ${typeName(value)}`);
  if (!isNumeric(base)) throw new QueryError(28757, `$log's base must be numeric, not ${typeName(base)}`);
  above(value, 28758, '$log');
  if (!isNan(base) && !(toDouble(base) > 0 && signOf(base) > 0 && toDouble(base) !== 1)) {
    throw new QueryError(28759, `$log's base must be a number above zero and other than 1`);
  }
  if (!isDecimal(value) && !isDecimal(base)) return ln(toDouble(value)) / ln(toDouble(base));
  return divide(decimalLn(toDecimal(value)), decimalLn(toDecimal(base)));
}
