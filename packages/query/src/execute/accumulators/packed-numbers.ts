/** Many doubles as one value of a partial group: eight bytes each, in the order of this computer. */

import { Binary } from '../../bson/value.ts';

export function packed(numbers: Float64Array): Binary {
  return new Binary(new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength));
}

export function packedNumbers({ bytes }: Binary): Float64Array<ArrayBuffer> {
  // They begin anywhere in what was read.
  return new Float64Array(new Uint8Array(bytes).buffer);
}
