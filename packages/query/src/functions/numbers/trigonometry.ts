/** Trigonometric and hyperbolic functions in radians, and the conversion of degrees. */

import { decimalInfinity, decimalNan, decimalParts, parseDecimal } from '../../bson/decimal.ts';
import { multiply } from '../../bson/decimal-arithmetic.ts';
import { decimalAtan2, decimalReal, type RealName } from '../../bson/decimal-functions.ts';
import { isNullish, isNumeric, typeName } from '../../bson/type.ts';
import type { Decimal128, Maybe } from '../../bson/value.ts';
import { QueryError } from '../../query-error.ts';
import { named, numeric } from '../../sql/types/signature.ts';
import { type Eager, eager, type Functions } from '../definition.ts';
import * as exact from './exact-double.ts';
import { isDecimal, isFiniteNumber, isNan, type Numeric, toDecimal, toDouble } from './number.ts';

/** Angles must be finite; the other functions have a domain, which includes its ends unless stated otherwise. */
type Domain = 'all' | 'finite' | readonly [least: number, most: number];

const functions: readonly (readonly [RealName, (value: number) => number, Domain])[] = [
  ['sin', exact.sin, 'finite'],
  ['cos', exact.cos, 'finite'],
  ['tan', exact.tan, 'finite'],
  ['asin', exact.asin, [-1, 1]],
  ['acos', exact.acos, [-1, 1]],
  ['atan', exact.atan, 'all'],
  ['sinh', Math.sinh, 'all'],
  ['cosh', Math.cosh, 'all'],
  ['tanh', Math.tanh, 'all'],
  ['asinh', Math.asinh, 'all'],
  ['acosh', Math.acosh, [1, Number.POSITIVE_INFINITY]],
  ['atanh', Math.atanh, [-1, 1]],
];

export const trigonometry: Functions = {
  ...Object.fromEntries(
    functions.map(([name, onDouble, domain]) => [`agg.${name}`, { mql: 1, eager: real(name, onDouble, domain) }]),
  ),
  'agg.atan2': eager({ mql: 2 }, atan2),
  'agg.degreesToRadians': eager({ mql: 1, sql: named(numeric, ['RADIANS', 1, 1]) }, (value) =>
    scaled(value, '$degreesToRadians', Math.PI / 180, (x) => multiply(x, radiansOfDegree)),
  ),
  'agg.radiansToDegrees': eager({ mql: 1, sql: named(numeric, ['DEGREES', 1, 1]) }, (value) =>
    scaled(value, '$radiansToDegrees', 180 / Math.PI, (x) => multiply(x, degreesOfRadian)),
  ),
};

const radiansOfDegree: Decimal128 = parseDecimal('0.01745329251994329576923690768488613')!;
const degreesOfRadian: Decimal128 = parseDecimal('57.29577951308232087679815481410517')!;
const halfPi: Decimal128 = parseDecimal('1.570796326794896619231321691639751')!;
const minusOne: Decimal128 = toDecimal(-1n);

export function real(name: RealName, onDouble: (value: number) => number, domain: Domain): Eager {
  return (value) => {
    const number = numberOf(value, `$${name}`, 28765);
    if (number === null) return null;
    if (isNan(number)) return isDecimal(number) ? decimalNan : Number.NaN;
    checkDomain(name, number, domain);
    if (!isDecimal(number)) return onDouble(toDouble(number));
    if (name === 'atanh' && Math.abs(toDouble(number)) === 1) return decimalInfinity(toDouble(number) < 0);
    return isFiniteNumber(number) ? decimalReal(name, number) : atInfinity(name, decimalParts(number).negative);
  };
}

function checkDomain(name: string, value: Numeric, domain: Domain): void {
  const number = toDouble(value);
  if (domain === 'all' || (domain === 'finite' && Number.isFinite(number))) return;
  if (domain !== 'finite' && number >= domain[0] && number <= domain[1]) return;
  const expected = domain === 'finite' ? 'a finite number' : `a number from ${domain[0]} to ${domain[1]}`;
  throw new QueryError(50989, `cannot apply $${name} to ${number}, expected ${expected}`);
}

function atInfinity(name: RealName, negative: boolean): Decimal128 {
  if (name === 'atan') return negative ? multiply(halfPi, minusOne) : halfPi;
  if (name === 'tanh') return toDecimal(negative ? -1n : 1n);
  return decimalInfinity(name !== 'cosh' && negative);
}

function atan2(y: Maybe, x: Maybe): Maybe {
  if (isNullish(y)) return null;
  if (!isNumeric(y)) throw new QueryError(51044, `$atan2 only supports numeric types, not ${typeName(y)}`);
  if (isNullish(x)) return null;
  if (!isNumeric(x)) throw new QueryError(51045, `$atan2 only supports numeric types, not ${typeName(x)}`);
  if (isDecimal(y) || isDecimal(x)) return decimalAtan2(toDecimal(y), toDecimal(x));
  return Math.atan2(toDouble(y), toDouble(x));
}

function scaled(value: Maybe, name: string, factor: number, onDecimal: (value: Decimal128) => Decimal128): Maybe {
  const number = numberOf(value, name, 28765);
  if (number === null) return null;
  return isDecimal(number) ? onDecimal(number) : toDouble(number) * factor;
}

function numberOf(value: Maybe, name: string, code: number): Numeric | null {
  if (isNullish(value)) return null;
  if (isNumeric(value)) return value;
  throw new QueryError(code, `${name} only supports numeric types, not ${typeName(value)}`);
}
