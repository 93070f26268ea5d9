/** Documents of other processes that are only passed on: they stay encoded (D48). */
import { describeFault, invalidArgument, maxReadingLevels, walkStruct } from '@platform/base/portable';

/** Decoding fewer bytes takes a few milliseconds. */
const fewBytes = 64 * 1024;

/** A value of a document that is a google.protobuf.Struct, encoded. */
export class EncodedDocument {
  readonly bytes: Uint8Array;

  /** @param level of the document that contains it @throws PlatformError invalid_argument if the bytes are not one, or it has too many levels */
  constructor(bytes: Uint8Array, level: number) {
    const levels = maxReadingLevels - level;
    const fault = walkStruct(bytes, 0, bytes.length, null, levels);
    if (fault !== null) throw invalidArgument(describeFault(fault, levels));
    this.bytes = bytes;
  }
}

/** Whether an answer of this length should stay encoded. */
export function isLong({ length }: Uint8Array): boolean {
  return length > fewBytes;
}
