import { createHash, randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { HashedPieces } from './hashed-pieces.ts';
import { threadHash } from './thread-hash.ts';

const content = randomBytes(5_000_000);

async function passThrough(pieces: HashedPieces, passOn: (bytes: Uint8Array) => Promise<void>): Promise<void> {
  for (let at = 0; at < content.length; ) {
    const piece = await pieces.take();
    const part = content.subarray(at, at + piece.length);
    piece.set(part);
    pieces.give(piece, part.length, passOn);
    at += part.length;
  }
  await pieces.settled();
}

test('bytes are passed on and hashed in order, however slowly they are passed on', async () => {
  using hash = threadHash();
  using pieces = new HashedPieces(hash);
  const passed: Buffer[] = [];
  await passThrough(pieces, async (bytes) => {
    await new Promise((resolve) => setImmediate(resolve));
    passed.push(Buffer.from(bytes));
  });
  expect(Buffer.concat(passed).equals(content)).toBe(true);
  expect(Buffer.from(await hash.digest())).toEqual(createHash('sha256').update(content).digest());
});

test('hashes in one thread do not mix, and a hash can continue after its digest', async () => {
  using first = threadHash();
  using second = threadHash();
  const shared = new Uint8Array(new SharedArrayBuffer(3));
  shared.set([1, 2, 3]);
  await Promise.all([first.update(shared), second.update(shared.subarray(1))]);
  expect(Buffer.from(await second.digest())).toEqual(createHash('sha256').update(Buffer.of(2, 3)).digest());
  await first.update(shared);
  expect(Buffer.from(await first.digest())).toEqual(
    createHash('sha256')
      .update(Buffer.of(1, 2, 3, 1, 2, 3))
      .digest(),
  );
});

test('a failure to pass bytes on is thrown, and nothing is passed on afterwards', async () => {
  using hash = threadHash();
  using pieces = new HashedPieces(hash);
  let passed = 0;
  const failed = passThrough(pieces, async () => {
    if (++passed === 2) throw new Error('no space');
  });
  await expect(failed).rejects.toThrow('no space');
  await expect(pieces.settled()).rejects.toThrow('no space');
  expect(passed).toBe(2);
});
