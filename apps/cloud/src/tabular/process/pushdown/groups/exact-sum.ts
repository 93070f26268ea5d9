/**
 * Exact sums of doubles in DuckDB, in any order and by several threads. Values are split into parts with so few bits that all sums of each
 * part are exact.
 *
 * Adding and then subtracting M = 1.5 × 2^(52+q) rounds a value below 2^(51+q) to a multiple of 2^q; the remainder is at most 2^(q-1). A
 * sum of n multiples of 2^q, each at most 2^a, needs a + log2(n) - q bits; up to 53 bits none is lost.
 */
import type { NumberFacts } from '../../files/file-facts.ts';

/** Facts about all values to be added. */
export interface Summed {
  readonly rows: number;
  readonly number: NumberFacts | undefined;
}

const maxParts = 3;
const doubleBits = 53;

/** How a column is summed. */
export type SumPlan =
  /** As parts; exponents q of the parts split off, greatest first. The remainder is the last part. */
  | { readonly k: 'parts'; readonly split: readonly number[] }
  /** As integer multiples of 2^lowest, in 128 bits. */
  | { readonly k: 'whole'; readonly lowest: number };

/**
 * Undefined when three parts are not enough. Negative zeros make no difference: the empty sum is 0. DuckDB adds plain doubles fastest,
 * integers slightly slower, and parts in about twice the time.
 */
export function sumPlan(of: readonly Summed[]): SumPlan | undefined {
  const numbers = of.map(({ number }) => number).filter((number) => number !== undefined);
  if (numbers.some(({ nonFinite }) => nonFinite)) return undefined;
  const greatest = numbers.reduce((most, { min, max }) => Math.max(most, Math.abs(min), Math.abs(max)), 0);
  if (!Number.isFinite(greatest)) return undefined;
  if (greatest === 0) return { k: 'parts', split: [] };
  const lowest = numbers
    .filter(({ min, max }) => min !== 0 || max !== 0)
    .reduce((least, { lowestBit }) => Math.min(least, lowestBit), Number.POSITIVE_INFINITY);
  // At least 8, so that the values are below 2^(51+q).
  const rowBits =
    Math.ceil(
      Math.log2(
        Math.max(
          8,
          of.reduce((sum, { rows }) => sum + rows, 1),
        ),
      ),
    ) + 1;
  let above = exponentAbove(greatest);
  if (above + rowBits - lowest <= doubleBits) return { k: 'parts', split: [] };
  if (above - lowest <= longBits && Math.abs(lowest) < maxExponent) return { k: 'whole', lowest };
  const split: number[] = [];
  while (above + rowBits - lowest > doubleBits) {
    if (split.length === maxParts - 1) return undefined;
    const q = above + rowBits - doubleBits;
    if (52 + q > maxExponent || q < minExponent) return undefined;
    split.push(q);
    above = q - 1;
  }
  return { k: 'parts', split };
}

const longBits = 62;
const maxExponent = 1_000;
const minExponent = -1_000;

/** The smallest a with 2^a ≥ value. */
function exponentAbove(value: number): number {
  let exponent = Math.max(-1_074, Math.ceil(Math.log2(value)) - 2);
  while (2 ** exponent < value) exponent++;
  return exponent;
}

/** SQL of the sums of a DOUBLE column: of each part, or of integers (HUGEINT). */
export function sumsSql(column: string, plan: SumPlan): readonly string[] {
  if (plan.k === 'whole') return [`sum(CAST(${column} * ${(2 ** -plan.lowest).toExponential()} AS BIGINT))`];
  let rest = column;
  const parts: string[] = [];
  for (const q of plan.split) {
    const m = (1.5 * 2 ** (52 + q)).toExponential();
    const part = `((${rest} + ${m}) - ${m})`;
    parts.push(`sum(${part})`);
    rest = `(${rest} - ${part})`;
  }
  return [...parts, `sum(${rest})`];
}

/** Doubles whose exact sum is `whole` × 2^lowest. */
export function partsOfWhole(whole: bigint, lowest: number): readonly number[] {
  const parts: number[] = [];
  let rest = whole < 0n ? -whole : whole;
  for (let exponent = lowest; rest > 0n; exponent += doubleBits) {
    const low = BigInt.asUintN(doubleBits, rest);
    if (low !== 0n) parts.push((whole < 0n ? -1 : 1) * Number(low) * 2 ** exponent);
    rest >>= BigInt(doubleBits);
  }
  return parts;
}

/** value × count as two doubles with that exact sum; undefined if there are none. */
export function exactProduct(value: number, count: number): readonly number[] | undefined {
  if (value === 0) return [0];
  const size = Math.abs(value);
  if (!(size < 2 ** 900 && size > 2 ** -900)) return undefined;
  const product = value * count;
  const [a, b] = halves(value);
  const [c, d] = halves(count);
  return [product, a * c - product + a * d + b * c + b * d];
}

/** Veltkamp splitting: two doubles of 26 bits that add up to the value. */
function halves(value: number): readonly [number, number] {
  const scaled = value * (2 ** 27 + 1);
  const high = scaled - (scaled - value);
  return [high, value - high];
}
