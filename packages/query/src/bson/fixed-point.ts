/** Elementary functions of real numbers in fixed point: integers in units of 2^-512, exact to far beyond 34 digits. */

export const fractionBits = 512n;
export const one: bigint = 1n << fractionBits;

export function times(a: bigint, b: bigint): bigint {
  return (a * b) >> fractionBits;
}

export function over(a: bigint, b: bigint): bigint {
  return (a << fractionBits) / b;
}

export function toFixed(value: number): bigint {
  // 53 bits of the value suffice for a first guess.
  return BigInt(Math.round(value * 2 ** 60)) << (fractionBits - 60n);
}

/** For a value whose nearest double is not infinite. */
export function fromFixed(value: bigint): number {
  const magnitude = value < 0n ? -value : value;
  const shift = Math.max(0, magnitude.toString(2).length - 64);
  return Number(value >> BigInt(shift)) * 2 ** (shift - Number(fractionBits));
}

export const ln2: bigint = 2n * atanhOfInverse(3n);
export const ln10: bigint = 3n * ln2 + 2n * atanhOfInverse(9n);

function atanhOfInverse(n: bigint): bigint {
  let power = one / n;
  let sum = power;
  for (let k = 3n; power !== 0n; k += 2n) {
    power /= n * n;
    sum += power / k;
  }
  return sum;
}

/** π in units of 2^-bits, by Machin's formula. */
export function piWith(bits: bigint): bigint {
  const guarded = bits + 32n;
  return (4n * (4n * atanOfInverse(5n, guarded) - atanOfInverse(239n, guarded))) >> 32n;
}

export const pi: bigint = piWith(fractionBits);

function atanOfInverse(n: bigint, bits: bigint): bigint {
  let power = (1n << bits) / n;
  let sum = power;
  for (let k = 3n; power !== 0n; k += 2n) {
    power /= -(n * n);
    sum += power / k;
  }
  return sum;
}

/** e^x as `value × 2^shift`, with value from 1/√2 to √2. */
export function exp(x: bigint): { value: bigint; shift: number } {
  const shift = (x + (ln2 >> 1n)) / ln2 - (x + (ln2 >> 1n) < 0n ? 1n : 0n);
  const halvings = 12n;
  const rest = (x - shift * ln2) >> halvings;
  let term = one;
  let sum = one;
  for (let k = 1n; term !== 0n && term !== -1n; k++) {
    term = times(term, rest) / k;
    sum += term;
  }
  for (let k = 0n; k < halvings; k++) sum = times(sum, sum);
  return { value: sum, shift: Number(shift) };
}

/** Natural logarithm of a positive number. */
export function ln(x: bigint): bigint {
  const shift = BigInt(x.toString(2).length - 1) - fractionBits;
  const mantissa = shift >= 0n ? x >> shift : x << -shift;
  let y = toFixed(Math.log(fromFixed(mantissa)));
  for (let round = 0; round < 4; round++) {
    const e = exp(y);
    const guess = e.shift >= 0 ? e.value << BigInt(e.shift) : e.value >> BigInt(-e.shift);
    // Halley's step triples the digits.
    y += 2n * over(mantissa - guess, mantissa + guess);
  }
  return y + shift * ln2;
}

export function sqrt(x: bigint): bigint {
  return integerRoot(x << fractionBits);
}

/** The largest whole number whose square is not above `n`. */
export function integerRoot(n: bigint): bigint {
  if (n < 2n) return n;
  let root = 1n << BigInt(Math.ceil(n.toString(2).length / 2));
  for (;;) {
    const next = (root + n / root) >> 1n;
    if (next >= root) return root;
    root = next;
  }
}

/** Sine and cosine of an angle from -2π to 2π. */
export function sinCos(x: bigint): { sin: bigint; cos: bigint } {
  const halvings = 8n;
  const small = x >> halvings;
  const square = times(small, small);
  let sin = small;
  let cos = one;
  let term = one;
  for (let k = 1n; term !== 0n; k++) {
    term = -times(term, square) / ((2n * k - 1n) * (2n * k));
    cos += term;
  }
  term = small;
  for (let k = 1n; term !== 0n && term !== -1n; k++) {
    term = -times(term, square) / (2n * k * (2n * k + 1n));
    sin += term;
  }
  for (let k = 0n; k < halvings; k++) [sin, cos] = [2n * times(sin, cos), times(cos, cos) - times(sin, sin)];
  return { sin, cos };
}

/** The angle of the point (x, y), from -π to π. */
export function atan2(y: bigint, x: bigint): bigint {
  if (x === 0n && y === 0n) return 0n;
  const length = integerRoot(x * x + y * y);
  const [unitX, unitY] = [over(x, length), over(y, length)];
  let angle = toFixed(Math.atan2(fromFixed(unitY), fromFixed(unitX)));
  for (let round = 0; round < 4; round++) {
    const { sin, cos } = sinCos(angle);
    // The sine of the remaining angle; this step leaves an error of its cube.
    const missing = times(unitY, cos) - times(unitX, sin);
    angle += missing + times(times(missing, missing), missing) / 6n;
  }
  return angle;
}
