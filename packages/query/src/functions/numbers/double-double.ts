/** Arithmetic on sums of two doubles, which hold 106 bits: for results that must be correct to the last bit of a double. */

/** `[high, low]`; the low part is at most half a unit of the high one's last place. */
export type Pair = readonly [high: number, low: number];

export function twoSum(a: number, b: number): Pair {
  const sum = a + b;
  const part = sum - a;
  return [sum, a - (sum - part) + (b - part)];
}

/** For numbers below 2^990. */
export function twoProduct(a: number, b: number): Pair {
  const product = a * b;
  const [aHigh, bHigh] = [upperHalf(a), upperHalf(b)];
  const [aLow, bLow] = [a - aHigh, b - bHigh];
  return [product, aHigh * bHigh - product + aHigh * bLow + aLow * bHigh + aLow * bLow];
}

function upperHalf(value: number): number {
  const scaled = 134_217_729 * value;
  return scaled - (scaled - value);
}

export function plus(a: Pair, b: Pair): Pair {
  const [high, low] = twoSum(a[0], b[0]);
  return twoSum(high, low + a[1] + b[1]);
}

export function times(a: Pair, b: Pair): Pair {
  const [high, low] = twoProduct(a[0], b[0]);
  return twoSum(high, low + (a[0] * b[1] + a[1] * b[0]));
}

export function over(a: Pair, b: Pair): Pair {
  const first = a[0] / b[0];
  const rest = plus(a, times([-first, 0], b));
  return twoSum(first, rest[0] / b[0]);
}

/** @param factor a power of two. */
export function scaled(a: Pair, factor: number): Pair {
  return [a[0] * factor, a[1] * factor];
}
