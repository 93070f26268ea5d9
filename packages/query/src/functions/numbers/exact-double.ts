/**
 * Exponential, logarithm and trigonometry of doubles, correct to the last bit except for one argument in billions. Engines differ from the
 * reference's C library in one of ten results; where the library is correct to the last bit, so is this.
 */

/** ln 2 and π/2 in parts, of which the first two have 33 bits: their products with small integers are exact. */
const ln2: readonly [number, number, Pair] = [
  0.6931471804855391,
  7.440617109802979e-11,
  [2.0941744292700725e-21, 1.3886617844992288e-37],
];
const halfPi: readonly [number, number, Pair] = [
  1.5707963267341256,
  6.077100506303966e-11,
  [2.0222662487959506e-21, 1.0085854035872483e-37],
];

const inverseFactorials: readonly Pair[] = Array.from({ length: 30 }, (_, n) => {
  let factorial: Pair = [1, 0];
  for (let k = 2; k <= n; k++) factorial = times(factorial, [k, 0]);
  return over([1, 0], factorial);
});

function minusMultiple(x: number, count: number, [first, second, third]: readonly [number, number, Pair]): Pair {
  const high = twoSum(x - count * first, -count * second);
  const low = twoProduct(-count, third[0]);
  return plus(high, [low[0], low[1] - count * third[1]]);
}

export function exp(x: number): number {
  // Outside this range, the result is not a normal double, or it is 1.
  if (!(Math.abs(x) < 700 && Math.abs(x) > 2 ** -54)) return Math.exp(x);
  const count = Math.round(x / Math.LN2);
  const [high, low] = expPair(x, count);
  return (high + low) * 2 ** count;
}

/** e^x / 2^count */
function expPair(x: number, count: number): Pair {
  const rest = scaled(minusMultiple(x, count, ln2), 1 / 256);
  // e^rest - 1, which keeps its digits when squared.
  let less = inverseFactorials[10]!;
  for (let n = 9; n >= 1; n--) less = plus(times(less, rest), inverseFactorials[n]!);
  less = times(less, rest);
  for (let k = 0; k < 8; k++) less = plus(scaled(less, 2), times(less, less));
  return plus([1, 0], less);
}

export function ln(x: number): number {
  const guess = Math.log(x);
  if (!(Math.abs(guess) < 650) || guess === 0) return guess;
  const count = Math.round(-guess / Math.LN2);
  // x / e^guess - 1: the error of the guess.
  const product = scaled(times(expPair(-guess, count), [x, 0]), 2 ** count);
  const lack = plus(product, [-1, 0])[0];
  return guess + (lack - (lack * lack) / 2);
}

/** Larger angles are reduced by the engine. */
const maxAngle = 100_000;

/** Sine and cosine of a number of at most `maxAngle`. */
function sinCos(x: number): { sin: Pair; cos: Pair } {
  const count = Math.round(x / (Math.PI / 2));
  const rest = minusMultiple(x, count, halfPi);
  const square = times(rest, rest);
  const negated: Pair = [-square[0], -square[1]];
  let sin = inverseFactorials[27]!;
  let cos = inverseFactorials[28]!;
  for (let n = 25; n >= 1; n -= 2) sin = plus(times(sin, negated), inverseFactorials[n]!);
  for (let n = 26; n >= 0; n -= 2) cos = plus(times(cos, negated), inverseFactorials[n]!);
  sin = times(sin, rest);
  const turned: readonly [Pair, Pair][] = [
    [sin, cos],
    [cos, scaled(sin, -1)],
    [scaled(sin, -1), scaled(cos, -1)],
    [scaled(cos, -1), sin],
  ];
  const [s, c] = turned[((count % 4) + 4) % 4]!;
  return { sin: s, cos: c };
}

export function sin(x: number): number {
  if (!(Math.abs(x) <= maxAngle && Math.abs(x) > 1e-8)) return Math.sin(x);
  return value(sinCos(x).sin);
}

export function cos(x: number): number {
  return Math.abs(x) <= maxAngle ? value(sinCos(x).cos) : Math.cos(x);
}

export function tan(x: number): number {
  if (!(Math.abs(x) <= maxAngle && Math.abs(x) > 1e-8)) return Math.tan(x);
  const { sin: s, cos: c } = sinCos(x);
  return value(over(s, c));
}

export function atan(x: number): number {
  if (!(Math.abs(x) < 1e8 && Math.abs(x) > 1e-8)) return Math.atan(x);
  const guess = Math.atan(x);
  const { sin: s, cos: c } = sinCos(guess);
  // The tangent of the guess's error.
  const lack = plus(times([x, 0], c), scaled(s, -1))[0] / (c[0] + x * s[0]);
  return guess + lack;
}

export function asin(x: number): number {
  const guess = Math.asin(x);
  if (!(Math.abs(x) < 1 && Math.abs(x) > 1e-8)) return guess;
  const { sin: s, cos: c } = sinCos(guess);
  return guess + plus([x, 0], scaled(s, -1))[0] / c[0];
}

export function acos(x: number): number {
  const guess = Math.acos(x);
  if (!(Math.abs(x) < 1)) return guess;
  const { sin: s, cos: c } = sinCos(guess);
  return guess + plus(c, [-x, 0])[0] / s[0];
}

function value([high, low]: Pair): number {
  return high + low;
}

/** `[high, low]`; the low part is at most half a unit of the high one's last place. */
type Pair = readonly [high: number, low: number];

/** Arithmetic on sums of two doubles, which hold 106 bits: for results that must be correct to the last bit of a double. */
function twoSum(a: number, b: number): Pair {
  const sum = a + b;
  const part = sum - a;
  return [sum, a - (sum - part) + (b - part)];
}

/** For numbers below 2^990. */
function twoProduct(a: number, b: number): Pair {
  const product = a * b;
  const [aHigh, bHigh] = [upperHalf(a), upperHalf(b)];
  const [aLow, bLow] = [a - aHigh, b - bHigh];
  return [product, aHigh * bHigh - product + aHigh * bLow + aLow * bHigh + aLow * bLow];
}

function upperHalf(value: number): number {
  const scaled = 134_217_729 * value;
  return scaled - (scaled - value);
}

function plus(a: Pair, b: Pair): Pair {
  const [high, low] = twoSum(a[0], b[0]);
  return twoSum(high, low + a[1] + b[1]);
}

function times(a: Pair, b: Pair): Pair {
  const [high, low] = twoProduct(a[0], b[0]);
  return twoSum(high, low + (a[0] * b[1] + a[1] * b[0]));
}

function over(a: Pair, b: Pair): Pair {
  const first = a[0] / b[0];
  const rest = plus(a, times([-first, 0], b));
  return twoSum(first, rest[0] / b[0]);
}

/** @param factor a power of two. */
function scaled(a: Pair, factor: number): Pair {
  return [a[0] * factor, a[1] * factor];
}
