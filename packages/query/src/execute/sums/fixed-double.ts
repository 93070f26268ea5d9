/** Converts doubles to and from whole numbers of 2^-1074, the smallest double: sums of these are exact. */

const bits = new DataView(new ArrayBuffer(8));

/** @param value finite. */
export function fixedOf(value: number): bigint {
  bits.setFloat64(0, value);
  const high = bits.getUint32(0);
  const exponent = (high >>> 20) & 0x7ff;
  const fraction = (high & 0xfffff) * 2 ** 32 + bits.getUint32(4);
  const size = exponent === 0 ? BigInt(fraction) : BigInt(fraction + 2 ** 52) << BigInt(exponent - 1);
  return value < 0 ? -size : size;
}

const wide: readonly [bigint, bigint] = [1n << 1023n, 1n << 1900n];

/** The nearest double, the even one if two are equally near; an infinity beyond all doubles. */
export function nearestDouble(fixed: bigint): number {
  const size = fixed < 0n ? -fixed : fixed;
  // Keeps enough bits to round correctly; of the rest it matters only whether there is any.
  const cut = size < wide[0] ? 0n : size < wide[1] ? 960n : 1800n;
  const kept = size >> cut;
  const number = Number(kept << cut === size ? kept : kept | 1n) * 2 ** (Number(cut) - 1074);
  return fixed < 0n ? -number : number;
}
