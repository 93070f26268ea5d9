/**
 * Sums of doubles as DuckDB adds them, in any order and by several threads, without losing a bit: values are taken apart so that each
 * part has few enough bits for all of its sums to be exact.
 *
 * Adding and taking away M = 1.5 × 2^(52+q) rounds a value below 2^(51+q) to a multiple of 2^q; what is left is at most 2^(q-1). Sums of
 * n multiples of 2^q that are at most 2^a each need a + log2(n) - q bits; with 53 none is lost.
 */
import type { NumberFacts } from '../../files/file-facts.ts';

/** What is known of all values that are added up. */
export interface Summed {
  readonly rows: number;
  readonly number: NumberFacts | undefined;
}

const maxParts = 3;
const doubleBits = 53;

/** How a column is added up. */
export type SumPlan =
  /** As parts; exponents q of those that are split off, greatest first. The rest is the last part. */
  | { readonly k: 'parts'; readonly split: readonly number[] }
  /** As whole numbers of 2^lowest, in 128 bits. */
  | { readonly k: 'whole'; readonly lowest: number };

/**
 * Undefined when three parts do not suffice. Negative zeros make no difference: a sum that begins with nothing is 0.
 * DuckDB adds plain doubles fastest, whole numbers at little more, parts at about twice of that.
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

/** The least a with 2^a ≥ value. */
function exponentAbove(value: number): number {
  let exponent = Math.max(-1_074, Math.ceil(Math.log2(value)) - 2);
  while (2 ** exponent < value) exponent++;
  return exponent;
}

/** SQL of the sums of a DOUBLE column: of each part, or of whole numbers (HUGEINT). */
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

/** Doubles whose sum is so many times 2^lowest, exactly. */
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

/** Of a number that is there so many times: two doubles whose sum is the product, exactly; undefined where they would not be. */
export function exactProduct(value: number, count: number): readonly number[] | undefined {
  if (value === 0) return [0];
  const size = Math.abs(value);
  if (!(size < 2 ** 900 && size > 2 ** -900)) return undefined;
  const product = value * count;
  const [a, b] = halves(value);
  const [c, d] = halves(count);
  return [product, a * c - product + a * d + b * c + b * d];
}

/** Veltkamp's: two doubles of 26 bits that add up to the value. */
function halves(value: number): readonly [number, number] {
  const scaled = value * (2 ** 27 + 1);
  const high = scaled - (scaled - value);
  return [high, value - high];
}
