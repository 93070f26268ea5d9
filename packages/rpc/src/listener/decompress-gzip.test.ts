import { gzipSync } from 'node:zlib';
import { Code, ConnectError } from '@connectrpc/connect';
import { expect, test } from 'vitest';
import { decompressGzip } from './decompress-gzip.ts';

const maxBytes = 1_000_000;
const bytes = (length: number): Buffer => Buffer.from(Uint8Array.from({ length }, (_, at) => (at * at) % 251));
const long = bytes(300_000);

/** The number of bytes at its end says something else. */
function lying(zipped: Buffer, announced: number): Buffer {
  const changed = Buffer.from(zipped);
  changed.writeUInt32LE(announced, changed.length - 4);
  return changed;
}

async function codeOf(sent: Uint8Array): Promise<Code | string> {
  return await decompressGzip(sent, maxBytes).then(
    ({ length }) => `${length} bytes`,
    (caught: unknown) => ConnectError.from(caught).code,
  );
}

test.each([0, 1, 16_383, 16_384, 16_385, 300_000, maxBytes])(
  '%d bytes are the same after decompression',
  async (length) => {
    const content = bytes(length);
    expect(Buffer.from(await decompressGzip(gzipSync(content), maxBytes)).equals(content)).toBe(true);
  },
);

test('an empty body is empty, and a body of several parts is whole, whatever the last one announces', async () => {
  expect(await codeOf(new Uint8Array(0))).toBe('0 bytes');
  const whole = await decompressGzip(Buffer.concat([gzipSync(long), gzipSync(bytes(5))]), maxBytes);
  expect(Buffer.from(whole).equals(Buffer.concat([long, bytes(5)]))).toBe(true);
});

test('D48 what announces another length, is damaged or holds too much is refused', async () => {
  const zipped = gzipSync(long);
  expect(await codeOf(lying(zipped, 5))).toBe(Code.InvalidArgument);
  expect(await codeOf(lying(zipped, 2 ** 32 - 1))).toBe(Code.InvalidArgument);
  expect(await codeOf(zipped.subarray(0, -10))).toBe(Code.InvalidArgument);
  expect(await codeOf(bytes(1_000))).toBe(Code.InvalidArgument);
  const large = gzipSync(bytes(maxBytes + 1));
  expect(await codeOf(large)).toBe(Code.ResourceExhausted);
});
