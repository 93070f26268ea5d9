/**
 * The bytes of a capture file: magic, then frames {length u32, crc32c u32, payload}, all little-endian.
 * Numbered invariants: docs/specs/capture-file.md.
 */
import { crc32c } from '@platform/base';

/** Current version; a reader refuses any other by number. */
export const formatVersion = 1;

/** "PLCAP", CR, LF, version. CR LF reveals a transfer that rewrites line ends. */
export const magic: Uint8Array = Uint8Array.of(0x50, 0x4c, 0x43, 0x41, 0x50, 0x0d, 0x0a, formatVersion);

export const frameHeaderBytes = 8;

/** A length above this is damage, not a frame. */
export const maxFrameBytes: number = 256 * 1024 * 1024;

/** Bytes at the start of a file that contain the complete header frame, for any header up to this size. */
export const fileHeaderBytes: number = 64 * 1024;

/** Writes the frame of `payload` into `target` at `offset`; returns the offset after it. */
export function writeFrame(target: Uint8Array, offset: number, payload: Uint8Array): number {
  writeU32(target, offset, payload.length);
  writeU32(target, offset + 4, crc32c(payload));
  target.set(payload, offset + frameHeaderBytes);
  return offset + frameHeaderBytes + payload.length;
}

export type FrameAt =
  | { readonly payload: Uint8Array; readonly end: number }
  | { readonly payload: undefined; readonly reason: string };

/** The frame that starts at `offset`, or why there is none. Length zero is never a frame: a power failure leaves zeros. */
export function frameAt(bytes: Uint8Array, offset: number): FrameAt {
  const left = bytes.length - offset;
  if (left < frameHeaderBytes) return { payload: undefined, reason: `${left} bytes are too short for a frame header` };
  const length = readU32(bytes, offset);
  if (length === 0) return { payload: undefined, reason: 'frame of length 0' };
  if (length > maxFrameBytes) return { payload: undefined, reason: `frame length ${length} over ${maxFrameBytes}` };
  const end = offset + frameHeaderBytes + length;
  if (end > bytes.length) {
    return { payload: undefined, reason: `frame of ${length} bytes ends ${end - bytes.length} bytes after the file` };
  }
  const payload = bytes.subarray(offset + frameHeaderBytes, end);
  if (crc32c(payload) !== readU32(bytes, offset + 4)) {
    return { payload: undefined, reason: `checksum of a frame of ${length} bytes does not match` };
  }
  return { payload, end };
}

function writeU32(target: Uint8Array, offset: number, value: number): void {
  target[offset] = value & 0xff;
  target[offset + 1] = (value >>> 8) & 0xff;
  target[offset + 2] = (value >>> 16) & 0xff;
  target[offset + 3] = value >>> 24;
}

function readU32(bytes: Uint8Array, offset: number): number {
  const at = (index: number): number => bytes[offset + index] as number;
  return (at(0) | (at(1) << 8) | (at(2) << 16) | (at(3) << 24)) >>> 0;
}
