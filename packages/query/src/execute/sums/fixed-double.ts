/** Doubles as whole numbers of 2^-1074, the least of them, and back: sums of such are exact. */

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

/** The nearest double, of two equally near ones the even one; an infinity beyond all doubles. */
export function nearestDouble(fixed: bigint): number {
  const size = fixed < 0n ? -fixed : fixed;
  // Only so much is cut off that enough bits are left to round rightly; of the rest it counts whether there is any.
  const cut = size < wide[0] ? 0n : size < wide[1] ? 960n : 1800n;
  const kept = size >> cut;
  const number = Number(kept << cut === size ? kept : kept | 1n) * 2 ** (Number(cut) - 1074);
  return fixed < 0n ? -number : number;
}
