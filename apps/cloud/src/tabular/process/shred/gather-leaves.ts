/** Collects what all values of a leaf have in common while documents are walked. */
import { kind, type NumberFacts, type TextFacts } from '../files/file-facts.ts';
import { leafLimits } from './leaf-tree.ts';
import { createTextRange, type TextRange } from './text-range.ts';
import type { Entries } from './walk-documents.ts';

/** The kinds of values that are present. */
export const presentKinds = ['double', 'string', 'bool', 'null', 'object', 'array'] as const;

export type LeafCounts = Readonly<Record<(typeof presentKinds)[number], number>>;

/** Indexed by leaf number. */
export interface GatheredLeaves {
  /** Adds the entries, whose values are in `bytes`. */
  add(entries: Entries, bytes: Uint8Array): void;
  countsOf(leaf: number): LeafCounts;
  numbersOf(leaf: number): NumberFacts | undefined;
  textsOf(leaf: number): TextFacts | undefined;
  /** Average bytes of a text. */
  textBytesOf(leaf: number): number;
}

/** Maps the bit of a kind to an index. */
const places = 8;
const placeOf = (bit: number): number => 31 - Math.clz32(bit);

export function gatherLeaves(): GatheredLeaves {
  const counts = new Int32Array(leafLimits.leaves * places);
  const min = new Float64Array(leafLimits.leaves).fill(Number.POSITIVE_INFINITY);
  const max = new Float64Array(leafLimits.leaves).fill(Number.NEGATIVE_INFINITY);
  const lowestBit = new Int32Array(leafLimits.leaves).fill(noBit);
  const negativeZero = new Uint8Array(leafLimits.leaves);
  const nonFinite = new Uint8Array(leafLimits.leaves);
  const texts: (TextRange | undefined)[] = [];
  const textBytes = new Float64Array(leafLimits.leaves);
  const count = (leaf: number, bit: number): number => counts[leaf * places + placeOf(bit)] as number;
  return {
    add({ count: entries, leaf: leaves, kind: bits, at: starts }, bytes) {
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
      for (let entry = 0; entry < entries; entry++) {
        const leaf = leaves[entry] as number;
        const bit = bits[entry] as number;
        const at = starts[entry] as number;
        (counts[leaf * places + placeOf(bit)] as number)++;
        if (bit === kind.string) {
          texts[leaf] ??= createTextRange();
          const length = view.getInt32(at, true) - 1;
          texts[leaf].add(bytes, at + 4, at + 4 + length);
          (textBytes[leaf] as number) += length;
          continue;
        }
        if (bit !== kind.double) continue;
        const low = view.getInt32(at, true);
        const high = view.getInt32(at + 4, true);
        if ((high & 0x7ff00000) === 0x7ff00000) {
          nonFinite[leaf] = 1;
          continue;
        }
        const value = view.getFloat64(at, true);
        if (value < (min[leaf] as number)) min[leaf] = value;
        if (value > (max[leaf] as number)) max[leaf] = value;
        if (value === 0) {
          if (high < 0) negativeZero[leaf] = 1;
          continue;
        }
        const lowest = lowestBitOf(low, high);
        if (lowest < (lowestBit[leaf] as number)) lowestBit[leaf] = lowest;
      }
    },
    countsOf: (leaf) => Object.fromEntries(presentKinds.map((name) => [name, count(leaf, kind[name])])) as LeafCounts,
    numbersOf(leaf) {
      if (count(leaf, kind.double) === 0) return undefined;
      const bit = lowestBit[leaf] as number;
      return {
        // -0 counts as 0.
        min: (min[leaf] as number) + 0,
        max: (max[leaf] as number) + 0,
        lowestBit: bit === noBit ? 0 : bit,
        negativeZero: negativeZero[leaf] === 1,
        nonFinite: nonFinite[leaf] === 1,
      };
    },
    textsOf: (leaf) => texts[leaf]?.facts(),
    textBytesOf: (leaf) => (textBytes[leaf] as number) / Math.max(1, count(leaf, kind.string)),
  };
}

/** Greater than the lowest bit of any double. */
const noBit = 2_000;

/** The exponent of the lowest set bit of a finite nonzero double, from its two words. */
function lowestBitOf(low: number, high: number): number {
  const exponent = (high >>> 20) & 0x7ff;
  // Subnormal doubles have the exponent of the smallest normal ones, without the leading bit.
  const ofBit0 = (exponent === 0 ? 1 : exponent) - 1_075;
  if (low !== 0) return ofBit0 + trailingZeros(low);
  return ofBit0 + 32 + trailingZeros((high & 0xfffff) | (exponent === 0 ? 0 : 0x100000));
}

function trailingZeros(word: number): number {
  return 31 - Math.clz32(word & -word);
}
