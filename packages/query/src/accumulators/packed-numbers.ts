/** Many doubles as one value of a partial group: eight bytes each, in this computer's byte order. */

import { Binary } from '../bson/value.ts';

export function packed(numbers: Float64Array): Binary {
  return new Binary(new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength));
}

/** The numbers of a state. The caller may change them. */
export function packedNumbers({ bytes }: Binary): Float64Array {
  // The bytes may begin at any offset of the buffer.
  const own = bytes.byteOffset % 8 === 0 ? bytes : new Uint8Array(bytes);
  return new Float64Array(own.buffer, own.byteOffset, own.byteLength / 8);
}
