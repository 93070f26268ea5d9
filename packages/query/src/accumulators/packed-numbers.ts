/** Many doubles as one value of a partial group: eight bytes each, in the order of this computer. */

import { Binary } from '../bson/value.ts';

export function packed(numbers: Float64Array): Binary {
  return new Binary(new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength));
}

/** The numbers of a state, which is given away: they may be changed. */
export function packedNumbers({ bytes }: Binary): Float64Array {
  // They begin anywhere in what was read.
  const own = bytes.byteOffset % 8 === 0 ? bytes : new Uint8Array(bytes);
  return new Float64Array(own.buffer, own.byteOffset, own.byteLength / 8);
}
