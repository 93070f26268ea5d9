/**
 * Roots, powers, logarithms and trigonometry of Decimal128. The square root is exact. For the others, the public reference library uses a
 * binary float of 113 bits, so argument and result are rounded to 113 bits here as well.
 */

import {
  type DecimalParts,
  decimalDigits,
  decimalInfinity,
  decimalNan,
  decimalParts,
  digitsOf,
  encodeDecimal,
  leastExponent,
} from './decimal.ts';
import { finite, isZero, shortened, withDigits } from './decimal-arithmetic.ts';
import {
  atan2,
  exp,
  fractionBits,
  integerRoot,
  ln,
  ln2,
  ln10,
  one,
  over,
  pi,
  piWith,
  sinCos,
  sqrt,
  times,
} from './fixed-point.ts';
import type { Decimal128 } from './value.ts';

const quadBits = 113;
/** Larger powers overflow or underflow. */
const maxPower = 16400n;

const zero: Decimal128 = encodeDecimal(finite(false, 0n, 0));
const unity: Decimal128 = encodeDecimal(finite(false, 1n, 0));
/** One as a power, with all its digits, because powers are computed in a binary float. */
const unitPower: Decimal128 = encodeDecimal(finite(false, 10n ** 33n, -33));
const nothing: Decimal128 = encodeDecimal(finite(false, 0n, leastExponent));

export function decimalSqrt(value: Decimal128): Decimal128 {
  const parts = decimalParts(value);
  if (parts.kind === 'nan' || (parts.negative && !isZero(parts))) return decimalNan;
  if (parts.kind === 'infinite') return value;
  const ideal = Math.floor(parts.exponent / 2);
  if (parts.coefficient === 0n) return encodeDecimal(finite(parts.negative, 0n, ideal));
  const odd = parts.exponent - 2 * ideal;
  const pad = decimalDigits + 2;
  const radicand = parts.coefficient * 10n ** BigInt(odd + 2 * pad);
  const root = integerRoot(radicand);
  if (root * root !== radicand) return encodeDecimal(finite(false, root, ideal - pad), true);
  return encodeDecimal(shortened(finite(false, root, ideal - pad), ideal));
}

export function decimalExp(value: Decimal128): Decimal128 {
  const parts = decimalParts(value);
  if (parts.kind === 'nan') return decimalNan;
  if (parts.kind === 'infinite') return parts.negative ? zero : value;
  if (isZero(parts)) return unity;
  if (magnitude(parts) < -40) return unity;
  if (magnitude(parts) > 6) return parts.negative ? nothing : decimalInfinity(false);
  return scaledExp(fixed(quad(parts)));
}

/** e^x with 34 digits; infinite or zero beyond the format's range. */
function scaledExp(x: bigint): Decimal128 {
  const { value, shift } = exp(x);
  if (shift > 30_000) return decimalInfinity(false);
  if (shift < -30_000) return nothing;
  return ofBinary(value, shift - Number(fractionBits));
}

/** Natural logarithm of a number above zero. */
export function decimalLn(value: Decimal128): Decimal128 {
  const parts = decimalParts(value);
  if (parts.kind !== 'finite') return value;
  if (isOne(parts)) return zero;
  return ofBinary(lnOf(parts), -Number(fractionBits));
}

export function decimalLog10(value: Decimal128): Decimal128 {
  const parts = decimalParts(value);
  if (parts.kind !== 'finite') return value;
  const short = shortened(parts, Number.POSITIVE_INFINITY);
  if (short.coefficient === 1n) {
    return encodeDecimal(finite(short.exponent < 0, BigInt(Math.abs(short.exponent)), 0));
  }
  return ofBinary(over(lnOf(parts), ln10), -Number(fractionBits));
}

function lnOf(parts: DecimalParts): bigint {
  const exponent = parts.exponent + digitsOf(parts.coefficient) - 1;
  const mantissa = finite(false, parts.coefficient, parts.exponent - exponent);
  // Near one, the logarithm depends on the argument's last digits, so the argument is not rounded first.
  const near = exponent === 0 || exponent === -1;
  return ln(near ? fixed(parts) : fixed(mantissa)) + (near ? 0n : BigInt(exponent) * ln10);
}

export function decimalPow(base: Decimal128, exponent: Decimal128): Decimal128 {
  const [a, b] = [decimalParts(base), decimalParts(exponent)];
  if (isZero(b) || isOne(a)) return unitPower;
  if (a.kind === 'nan' || b.kind === 'nan') return decimalNan;
  const whole = b.kind === 'infinite' ? undefined : wholeOf(b);
  const odd = whole !== undefined && whole % 2n !== 0n;
  const negative = a.negative && odd;
  if (b.kind === 'infinite') {
    const order = a.kind === 'infinite' ? 1 : compareOne(a);
    if (order === 0) return unitPower;
    return order > 0 !== b.negative ? decimalInfinity(false) : zero;
  }
  if (a.kind === 'infinite' || isZero(a)) {
    const large = (a.kind === 'infinite') !== b.negative;
    return large ? decimalInfinity(negative) : encodeDecimal(finite(negative, 0n, leastExponent));
  }
  if (a.negative && whole === undefined) return decimalNan;
  const size = quad({ ...a, negative: false });
  const power = times(lnBinary(size), fixed(quad(b)));
  // Values outside the range of the binary float become infinite or zero, even if a Decimal128 could hold them.
  if (power > maxPower << fractionBits || over(power, ln2) > 16384n << fractionBits) return decimalInfinity(negative);
  if (over(power, ln2) < -16494n << fractionBits) return encodeDecimal(finite(negative, 0n, leastExponent));
  const { value, shift } = exp(power);
  return ofBinary(negative ? -value : value, shift - Number(fractionBits));
}

function lnBinary({ mantissa, power }: Quad): bigint {
  return ln(mantissa << (fractionBits - BigInt(quadBits - 1))) + BigInt(power + quadBits - 1) * ln2;
}

function wholeOf(parts: DecimalParts): bigint | undefined {
  const short = shortened(parts, 0);
  if (short.exponent < 0) return undefined;
  const size = short.coefficient * 10n ** BigInt(short.exponent);
  return short.negative ? -size : size;
}

function isOne(parts: DecimalParts): boolean {
  return parts.kind === 'finite' && !parts.negative && !isZero(parts) && compareOne(parts) === 0;
}

function compareOne({ coefficient, exponent }: DecimalParts): number {
  const [a, b] = exponent >= 0 ? [coefficient * 10n ** BigInt(exponent), 1n] : [coefficient, 10n ** BigInt(-exponent)];
  return a < b ? -1 : a > b ? 1 : 0;
}

type Real = (x: bigint) => bigint;

/** Functions that are odd and near the identity at zero: for tiny arguments the result is the argument. */
const nearIdentity: ReadonlySet<string> = new Set(['sin', 'tan', 'asin', 'atan', 'sinh', 'tanh', 'asinh', 'atanh']);

export type RealName =
  | 'sin'
  | 'cos'
  | 'tan'
  | 'asin'
  | 'acos'
  | 'atan'
  | 'asinh'
  | 'acosh'
  | 'atanh'
  | 'sinh'
  | 'cosh'
  | 'tanh';

const reals: Readonly<Record<RealName, Real>> = {
  sin: (x) => sinCos(x).sin,
  cos: (x) => sinCos(x).cos,
  tan: (x) => {
    const { sin, cos } = sinCos(x);
    return over(sin, cos);
  },
  asin: (x) => atan2(x, sqrt(one - times(x, x))),
  acos: (x) => atan2(sqrt(one - times(x, x)), x),
  atan: (x) => atan2(x, one),
  asinh: (x) => (x < 0n ? -asinh(-x) : asinh(x)),
  acosh: (x) => ln(x + sqrt(times(x, x) - one)),
  atanh: (x) => ln(over(one + x, one - x)) / 2n,
  sinh: (x) => (expFixed(x) - expFixed(-x)) / 2n,
  cosh: (x) => (expFixed(x) + expFixed(-x)) / 2n,
  tanh: (x) => over(expFixed(x) - expFixed(-x), expFixed(x) + expFixed(-x)),
};

function asinh(x: bigint): bigint {
  return ln(x + sqrt(times(x, x) + one));
}

function expFixed(x: bigint): bigint {
  const { value, shift } = exp(x);
  return shift >= 0 ? value << BigInt(shift) : value >> BigInt(-shift);
}

/** For a finite number in the function's domain. */
export function decimalReal(name: RealName, value: Decimal128): Decimal128 {
  const parts = decimalParts(value);
  if (isZero(parts) && nearIdentity.has(name)) return value;
  if (isZero(parts) && (name === 'cos' || name === 'cosh')) return unity;
  if ((name === 'acos' || name === 'acosh') && isOne(parts)) return zero;
  const size = magnitude(parts);
  if (size < -40 && nearIdentity.has(name)) return encodeDecimal(withDigits(parts, decimalDigits));
  if (name === 'sinh' || name === 'cosh' || name === 'tanh') {
    if (size > 5) {
      if (name === 'tanh') return encodeDecimal(finite(parts.negative, 1n, 0));
      return decimalInfinity(name === 'sinh' && parts.negative);
    }
  }
  if (name === 'sin' || name === 'cos' || name === 'tan') return ofAngle(name, parts, size);
  const x = fixed(quad(parts));
  return ofBinary(reals[name](x), -Number(fractionBits));
}

export function decimalAtan2(y: Decimal128, x: Decimal128): Decimal128 {
  const [a, b] = [decimalParts(y), decimalParts(x)];
  if (a.kind === 'nan' || b.kind === 'nan') return decimalNan;
  const side = (parts: DecimalParts, other: DecimalParts): bigint => {
    const sign = parts.negative ? -1n : 1n;
    if (parts.kind === 'infinite') return sign * one;
    if (other.kind === 'infinite') return 0n;
    const lift = Math.max(magnitude(parts), magnitude(other));
    return fixed(finite(parts.negative, parts.coefficient, parts.exponent - lift));
  };
  const [sideY, sideX] = [side(a, b), side(b, a)];
  if (sideY === 0n && (sideX > 0n || (sideX === 0n && !b.negative))) {
    return a.coefficient === 0n ? encodeDecimal(finite(a.negative, 0n, 0)) : nothing;
  }
  const angle = sideY === 0n ? pi : atan2(sideY < 0n ? -sideY : sideY, sideX);
  return ofBinary(a.negative ? -angle : angle, -Number(fractionBits));
}

/** With fewer decimal places, an angle is counted in quarter turns; otherwise it is small enough to be used as it is. */
const leastAngleExponent = -35;

/**
 * Counts the angle in quarter turns with all its digits. The part beyond the nearest whole turn is cut to 113 bits and turned back into an
 * angle with 113 bits, whose function is taken. In this way the last digit equals the reference's.
 */
function ofAngle(name: 'sin' | 'cos' | 'tan', parts: DecimalParts, size: number): Decimal128 {
  if (parts.exponent < leastAngleExponent) return ofBinary(reals[name](fixed(quad(parts))), -Number(fractionBits));
  const extra = BigInt(Math.max(0, Math.ceil(size * 3.33)) + 8);
  const quarter = piWith(fractionBits + extra) >> 1n;
  const angle = fixed(parts, fractionBits + extra);
  const turns = (angle << fractionBits) / quarter;
  const whole = (turns + (one >> 1n)) >> fractionBits;
  const rest = times(fixed(cutTo113(turns - (whole << fractionBits))), fixed(rounded(pi >> 1n, -Number(fractionBits))));
  const { sin, cos } = sinCos(fixed(rounded(rest, -Number(fractionBits))));
  const step = Number(BigInt.asUintN(2, name === 'cos' ? whole + 1n : whole));
  if (name !== 'tan') return ofBinary([sin, cos, -sin, -cos][step]!, -Number(fractionBits));
  const tangent = over(sin, cos);
  const isOdd = step % 2 === 1;
  return ofBinary(isOdd ? over(-one, fixed(rounded(tangent, -Number(fractionBits)))) : tangent, -Number(fractionBits));
}

function cutTo113(value: bigint): Quad {
  const size = value < 0n ? -value : value;
  const drop = BigInt(Math.max(0, bitsOf(size) - quadBits));
  const kept = size >> drop;
  return { mantissa: value < 0n ? -kept : kept, power: Number(drop - fractionBits) };
}

/** The power of ten of the first digit. */
function magnitude(parts: DecimalParts): number {
  return digitsOf(parts.coefficient) - 1 + parts.exponent;
}

/** In units of 2^-bits. */
function fixed(parts: DecimalParts | Quad, bits: bigint = fractionBits): bigint {
  if ('mantissa' in parts) {
    const shift = BigInt(parts.power) + bits;
    return shift >= 0n ? parts.mantissa << shift : parts.mantissa >> -shift;
  }
  const scaled = parts.coefficient << bits;
  const size = parts.exponent >= 0 ? scaled * 10n ** BigInt(parts.exponent) : scaled / 10n ** BigInt(-parts.exponent);
  return parts.negative ? -size : size;
}

/** `mantissa × 2^power`. */
interface Quad {
  readonly mantissa: bigint;
  readonly power: number;
}

/** Rounded to 113 bits, half to even. */
function quad(parts: DecimalParts): Quad {
  const [above, below] =
    parts.exponent >= 0
      ? [parts.coefficient * 10n ** BigInt(parts.exponent), 1n]
      : [parts.coefficient, 10n ** BigInt(-parts.exponent)];
  const shift = quadBits + 8 - (bitsOf(above) - bitsOf(below));
  const scaled = shift >= 0 ? (above << BigInt(shift)) / below : above / (below << BigInt(-shift));
  return rounded(parts.negative ? -scaled : scaled, -shift);
}

function rounded(value: bigint, power: number): Quad {
  const size = value < 0n ? -value : value;
  const drop = bitsOf(size) - quadBits;
  if (drop <= 0) return { mantissa: value << BigInt(-drop), power: power + drop };
  const half = 1n << BigInt(drop - 1);
  const rest = size & ((1n << BigInt(drop)) - 1n);
  let kept = size >> BigInt(drop);
  if (rest > half || (rest === half && kept % 2n === 1n)) kept++;
  return { mantissa: value < 0n ? -kept : kept, power: power + drop };
}

function bitsOf(value: bigint): number {
  return value.toString(2).length;
}

/** `value × 2^power` with 34 digits, computed with 113 bits. */
function ofBinary(value: bigint, power: number): Decimal128 {
  if (value === 0n) return zero;
  const { mantissa, power: shift } = rounded(value, power);
  const size = mantissa < 0n ? -mantissa : mantissa;
  const parts =
    shift >= 0
      ? finite(mantissa < 0n, size << BigInt(shift), 0)
      : finite(mantissa < 0n, size * 5n ** BigInt(-shift), shift);
  return encodeDecimal(withDigits(parts, decimalDigits));
}
