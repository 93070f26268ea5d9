/**
 * The bytes of a capture file: length-delimited protobuf messages, as in public capture files. The first message is a DataCaptureMetadata,
 * each further one a SensorData. Ours have additional fields with high numbers, which other readers skip:
 *
 *     record   = length (varint) | body | trailer
 *     trailer  = field 1001, fixed64: index u32 | crc32c u32                 the last 10 bytes of each message
 *     body     of the first message: field 1000 (identity) | public fields; of the others: SensorData as it is uploaded
 *
 * The checksum covers body, tag and index, and begins with a seed: a constant for the first message, the checksum of the first message for
 * the others. A record is therefore valid only in its own file. Numbered invariants: docs/specs/capture-file.md.
 */
import { crc32c, varintBytes, writeVarint } from '@platform/base';

/** A greater length is damage, not a record. */
export const maxRecordBytes: number = 256 * 1024 * 1024;

/** Field 1000 of wire type 2: the identity of the file (CaptureFileHeader without metadata). First in the first message. */
export const identityTag: readonly [number, number] = [0xc2, 0x3e];
/** Numbers of our fields in public messages. */
export const ourFields: ReadonlySet<number> = new Set([1000, 1001]);

/** Field 1001 of wire type 1. */
const trailerTag = [0xc9, 0x3e] as const;
const trailerBytes = 10;
/** An arbitrary value, so that a message from elsewhere, whose checksum has no seed, does not match. */
export const headerSeed = 0x504c_4302;

/** Size in a file of a record with a body of this length. */
export function recordBytes(bodyBytes: number): number {
  return varintBytes(bodyBytes + trailerBytes) + bodyBytes + trailerBytes;
}

export interface Written {
  /** The offset after the record. */
  readonly end: number;
  readonly checksum: number;
}

/** Writes a record into `target` at `offset`. @param index 0 for the header, readings count from 1 */
export function writeRecord(
  target: Uint8Array,
  offset: number,
  body: Uint8Array,
  { index, seed }: { readonly index: number; readonly seed: number },
): Written {
  const start = writeVarint(target, offset, body.length + trailerBytes);
  target.set(body, start);
  const at = start + body.length;
  target[at] = trailerTag[0];
  target[at + 1] = trailerTag[1];
  writeU32(target, at + 2, index);
  const checksum = crc32c(target.subarray(start, at + 6), seed);
  writeU32(target, at + 6, checksum);
  return { end: at + trailerBytes, checksum };
}

export type RecordAt =
  | { readonly body: Uint8Array; readonly index: number; readonly checksum: number; readonly end: number }
  | { readonly body: undefined; readonly reason: string };

/** The record that starts at `offset`, or why there is none. A record never has length zero, because a power failure leaves zeros. */
export function recordAt(bytes: Uint8Array, offset: number, seed: number): RecordAt {
  const message = messageAt(bytes, offset);
  if (message.content === undefined) return { body: undefined, reason: message.reason };
  const { content, end } = message;
  const at = content.length - trailerBytes;
  if (!hasTrailer(content)) return { body: undefined, reason: `message of ${content.length} bytes without checksum` };
  const checksum = readU32(content, at + 6);
  if (crc32c(content.subarray(0, at + 6), seed) !== checksum)
    return { body: undefined, reason: `checksum of a message of ${content.length} bytes does not match` };
  return { body: content.subarray(0, at), index: readU32(content, at + 2), checksum, end };
}

/** Whether the message ends with a trailer, as ours do. */
function hasTrailer(content: Uint8Array): boolean {
  const at = content.length - trailerBytes;
  return at > 0 && content[at] === trailerTag[0] && content[at + 1] === trailerTag[1];
}

/**
 * Where the next valid record after damage starts; undefined if there is none. The seed makes a false match as improbable as a checksum
 * collision.
 */
export function nextRecord(bytes: Uint8Array, from: number, seed: number): number | undefined {
  // Limits the time for a file full of bytes that look like trailers.
  let budget = 16 * bytes.length;
  const mostIndex = bytes.length / (trailerBytes + 2);
  for (let at = from; at < bytes.length - trailerBytes && budget > 0; at++) {
    const trailer = endAt(bytes, at) - trailerBytes;
    if (bytes[trailer] !== trailerTag[0] || bytes[trailer + 1] !== trailerTag[1]) continue;
    if (trailer <= at || readU32(bytes, trailer + 2) > mostIndex) continue;
    budget -= trailer - at;
    if (recordAt(bytes, at, seed).body !== undefined) return at;
  }
  return undefined;
}

/** Where a message that starts at `offset` would end; beyond the file if that is impossible. Called for each byte, so allocates nothing. */
function endAt(bytes: Uint8Array, offset: number): number {
  let length = 0;
  let scale = 1;
  for (let at = offset; at < Math.min(offset + 5, bytes.length); at++) {
    const byte = bytes[at] as number;
    length += (byte & 0x7f) * scale;
    if (byte < 0x80) return at + 1 + length;
    scale *= 128;
  }
  return bytes.length + trailerBytes;
}

export type MessageAt =
  | { readonly content: Uint8Array; readonly end: number }
  | { readonly content: undefined; readonly reason: string };

/** The length-delimited message at `offset`, whatever it contains. */
export function messageAt(bytes: Uint8Array, offset: number): MessageAt {
  let length = 0;
  let at = offset;
  for (let shift = 0; ; shift += 7) {
    const byte = bytes[at++];
    if (byte === undefined) return { content: undefined, reason: `the file ends within a length` };
    length += (byte & 0x7f) * 2 ** shift;
    if (byte < 0x80) break;
    if (shift >= 28) return { content: undefined, reason: 'length of more than 5 bytes' };
  }
  if (length === 0) return { content: undefined, reason: 'message of length 0' };
  if (length > maxRecordBytes)
    return { content: undefined, reason: `message of ${length} bytes, over ${maxRecordBytes}` };
  const end = at + length;
  if (end > bytes.length)
    return { content: undefined, reason: `message of ${length} bytes ends ${end - bytes.length} bytes after the file` };
  return { content: bytes.subarray(at, end), end };
}

export function writeU32(target: Uint8Array, offset: number, value: number): void {
  target[offset] = value & 0xff;
  target[offset + 1] = (value >>> 8) & 0xff;
  target[offset + 2] = (value >>> 16) & 0xff;
  target[offset + 3] = value >>> 24;
}

function readU32(bytes: Uint8Array, offset: number): number {
  const at = (index: number): number => bytes[offset + index] as number;
  return (at(0) | (at(1) << 8) | (at(2) << 16) | (at(3) << 24)) >>> 0;
}
