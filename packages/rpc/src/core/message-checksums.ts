/**
 * Checksums of request messages, for calls that must not be carried out if their bytes were damaged on the way: TCP's own checksum is weak,
 * and some proxies, modems and radios have bad memory.
 *
 * A call whose requests have them says so in its header, because a damaged message may not even decode. Each message ends with a field, fixed32:
 * the CRC-32 of its bytes before that, which continues that of the message before it, so that repeated, lost and swapped messages are noticed,
 * too. The field has number 1998 in the last message and 1999 in others. Servers that know nothing of it skip it.
 */
import { crc32 } from 'node:zlib';
import { aborted, type PlatformError } from '@platform/base';

export const checksumHeader = 'platform-checksums';
/** The value of the header. */
export const checksumKind = 'crc32';

const tags = { more: Buffer.from([0xfd, 0x7c]), last: Buffer.from([0xf5, 0x7c]) };
const tagBytes = 2;
const checksumBytes = tagBytes + 4;

/** The messages of one call, in order. */
export class MessageChecksums {
  #crc = 0;
  #isComplete = false;

  /** What the next message ends with. @param parts of the message */
  next(parts: readonly Uint8Array[], isLast: boolean): Uint8Array {
    for (const part of parts) this.#crc = crc32(part, this.#crc);
    const field = Buffer.allocUnsafe(checksumBytes);
    field.set(isLast ? tags.last : tags.more);
    field.writeUInt32LE(this.#crc, tagBytes);
    return field;
  }

  /** Whether the next message is as it was sent. */
  accepts(message: Uint8Array): boolean {
    const end = message.length - checksumBytes;
    if (end < 0 || this.#isComplete) return false;
    const field = message.subarray(end);
    this.#isComplete = tags.last.equals(field.subarray(0, tagBytes));
    return Buffer.compare(this.next([message.subarray(0, end)], this.#isComplete), field) === 0;
  }

  /** Whether the last message was accepted. */
  get isComplete(): boolean {
    return this.#isComplete;
  }
}

/** @param path of the call */
export function damagedMessage(path: string): PlatformError {
  return aborted(
    `${path}: expected a message with the checksum that its sender gave it, found another: its bytes were damaged on the way, and nothing of it was used; send it again`,
  );
}
