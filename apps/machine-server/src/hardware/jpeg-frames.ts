/**
 * Finds JPEG images in a stream of bytes, whatever is between them (ISO/IEC 10918-1, annex B). It walks the markers of each image, because
 * an image may contain a smaller one with its own end marker.
 */

export interface JpegFrames {
  push(chunk: Uint8Array): void;
}

const startOfImage = Buffer.from([0xff, 0xd8, 0xff]);
const marker = { prefix: 0xff, end: 0xd9, scan: 0xda, alone: 0x01, firstRestart: 0xd0, lastRestart: 0xd7 };

/** @param onTooLarge called for an image of more than `maxBytes`, which is dropped */
export function createJpegFrames(
  maxBytes: number,
  onFrame: (image: Uint8Array<ArrayBuffer>) => void,
  onTooLarge: () => void,
): JpegFrames {
  let bytes: Buffer = Buffer.alloc(0);
  /** The position at which to continue; 0 while no image has begun. */
  let at = 0;
  let isScan = false;

  const begin = (from: number): boolean => {
    const start = bytes.indexOf(startOfImage, from);
    // The last bytes here may be the first ones of the next image.
    bytes = start < 0 ? bytes.subarray(Math.max(from, bytes.length - startOfImage.length + 1)) : bytes.subarray(start);
    at = start < 0 ? 0 : 2;
    isScan = false;
    return start >= 0;
  };
  /** False if more bytes are needed. */
  const step = (): boolean => {
    if (at === 0) return begin(0);
    if (isScan) {
      at = bytes.indexOf(marker.prefix, at);
      if (at < 0 || at + 1 >= bytes.length) {
        at = at < 0 ? bytes.length : at;
        return false;
      }
      const next = bytes[at + 1] ?? 0;
      const isData = next === 0 || (next >= marker.firstRestart && next <= marker.lastRestart);
      if (isData) at += 2;
      else if (next === marker.prefix) at++;
      else isScan = false;
      return true;
    }
    if (at + 4 > bytes.length && bytes[at + 1] !== marker.end) return false;
    // Damaged, but the next image may be intact.
    if (bytes[at] !== marker.prefix) return begin(1);
    const code = bytes[at + 1] ?? 0;
    if (code === marker.end) {
      onFrame(Uint8Array.from(bytes.subarray(0, at + 2)));
      bytes = bytes.subarray(at + 2);
      at = 0;
    } else if (code === marker.prefix) at++;
    else if (code === marker.alone || (code >= marker.firstRestart && code <= marker.lastRestart)) at += 2;
    else {
      isScan = code === marker.scan;
      at += 2 + bytes.readUInt16BE(at + 2);
    }
    return true;
  };

  return {
    push(chunk) {
      bytes = Buffer.concat([bytes, chunk]);
      while (bytes.length > 0 && step());
      if (bytes.length <= maxBytes) return;
      onTooLarge();
      bytes = Buffer.alloc(0);
      at = 0;
    },
  };
}
