/** Detects an image type by its first bytes; file names and headers from the sender are not trusted. Pure. */

export type ImageType = 'image/png' | 'image/jpeg';

const signatures: readonly (readonly [ImageType, readonly number[]])[] = [
  ['image/png', [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]],
  ['image/jpeg', [0xff, 0xd8, 0xff]],
];

/** Undefined for anything else: SVG and other markup could carry scripts. */
export function imageTypeOf(bytes: Uint8Array): ImageType | undefined {
  return signatures.find(([, signature]) => signature.every((byte, index) => bytes[index] === byte))?.[0];
}
