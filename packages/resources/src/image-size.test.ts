import { expect, test } from 'vitest';
import { imageSize } from './image-size.ts';

test('the size of a PNG and of a JPEG is read from its header; anything else has none', () => {
  const png = Uint8Array.from([
    ...[0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52],
    ...[0, 0, 1, 64, 0, 0, 0, 240],
  ]);
  // An application segment before the frame, as cameras write it.
  const jpeg = Uint8Array.from([0xff, 0xd8, 0xff, 0xe0, 0, 4, 1, 2, 0xff, 0xc0, 0, 11, 8, 0, 48, 0, 64]);
  expect([png, jpeg].map(imageSize)).toEqual([
    { width: 320, height: 240 },
    { width: 64, height: 48 },
  ]);
  for (const bytes of [png, jpeg])
    for (let length = 0; length < bytes.length; length++)
      expect(imageSize(bytes.subarray(0, length)), `${length} bytes`).toBeUndefined();
  expect(imageSize(new TextEncoder().encode('not an image, but long enough to be one'))).toBeUndefined();
});
