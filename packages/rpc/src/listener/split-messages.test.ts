import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { BytesField } from '../core/binding.ts';
import { splitMessages } from './split-messages.ts';

const grpc = { 'content-type': 'application/grpc' };
const maxBytes = 3 * 1024 * 1024;
const field: BytesField = { path: [2, 1], maxBytes };

function envelope(message: Uint8Array, flags = 0): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt8(flags);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

function nested(path: readonly number[], content: Uint8Array): Buffer {
  return path.toReversed().reduce((inner: Buffer, number) => {
    const length: number[] = [];
    for (let rest = inner.length; ; rest >>>= 7) {
      length.push(rest < 0x80 ? rest : (rest & 0x7f) | 0x80);
      if (rest < 0x80) break;
    }
    return Buffer.concat([Uint8Array.from([number * 8 + 2, ...length]), inner]);
  }, Buffer.from(content));
}

/** The messages produced from a body that arrives in pieces of these lengths, repeated. */
async function split(body: Uint8Array, pieces: readonly number[], at: BytesField = field): Promise<Buffer[]> {
  async function* arriving(): AsyncGenerator<Uint8Array> {
    for (let from = 0, index = 0; from < body.length; index++) {
      const length = pieces[index % pieces.length] ?? 1;
      yield body.subarray(from, from + length);
      from += length;
    }
  }
  const out: Uint8Array[] = [];
  for await (const piece of splitMessages(arriving(), grpc, at)) out.push(piece);
  const whole = Buffer.concat(out);
  const messages: Buffer[] = [];
  for (let from = 0; from < whole.length; ) {
    const end = from + 5 + whole.readUInt32BE(from + 1);
    messages.push(whole.subarray(from + 5, end));
    from = end;
  }
  return messages;
}

/** The content of a message's field. */
function contentOf(message: Buffer, path: readonly number[]): Buffer {
  let rest = message;
  for (const number of path) {
    expect(rest[0]).toBe(number * 8 + 2);
    let at = 1;
    while ((rest[at] ?? 0) >= 0x80) at++;
    rest = rest.subarray(at + 1);
  }
  return rest;
}

const bytes = (length: number): Uint8Array => new Uint8Array(length).map((_, index) => (index * 31) % 256);

test('a large message becomes small ones that hold the same bytes, however it arrives, and its neighbours are unchanged', async () => {
  const pieces = fc.array(fc.integer({ min: 1, max: 300_000 }), {
    minLength: 1,
    maxLength: 5,
  });
  const length = fc.integer({ min: 1024 * 1024, max: 2 * 1024 * 1024 });
  const before = envelope(nested([1], bytes(40)));
  const after = envelope(nested([2, 1], bytes(1_000)));
  await fc.assert(
    fc.asyncProperty(pieces, length, fc.constantFrom([2, 1], [2]), async (arriving, size, path) => {
      const content = bytes(size);
      const large = envelope(nested(path, content));
      const lengths = [Math.max(...arriving) < 50 ? 50_000 : 1, ...arriving, 65_536];
      const found = await split(Buffer.concat([before, large, after]), lengths, { path, maxBytes });
      expect(found[0]).toEqual(before.subarray(5));
      expect(found.at(-1)).toEqual(after.subarray(5));
      const middle = found.slice(1, -1);
      expect(middle.length).toBeGreaterThan(3);
      expect(Math.max(...middle.map((message) => message.length))).toBeLessThan(300_000);
      expect(Buffer.compare(Buffer.concat(middle.map((message) => contentOf(message, path))), content)).toBe(0);
    }),
    { numRuns: 20 },
  );
});

test('a message over the limit is refused before its content, with both numbers', async () => {
  const head = envelope(nested([2, 1], bytes(maxBytes + 1))).subarray(0, 20);
  await expect(split(head, [20])).rejects.toThrow(/at most 3145728 bytes .* found 31457\d\d/);
});

test('a message that is compressed, or holds anything else, passes unchanged', async () => {
  const content = bytes(1_200_000);
  const bodies = [
    envelope(nested([2, 1], content), 1),
    envelope(Buffer.concat([nested([2, 1], content), nested([3], bytes(5))])),
    envelope(nested([3], content)),
    envelope(nested([2], Buffer.concat([nested([1], content), nested([4], bytes(5))]))),
  ];
  for (const body of bodies) expect(await split(body, [70_000])).toEqual([body.subarray(5)]);
});

test('a body that ends within a large message ends within a message', async () => {
  const whole = envelope(nested([2, 1], bytes(1_500_000)));
  const found = await split(whole.subarray(0, 600_000), [10_000]);
  expect(found).toHaveLength(3);
  expect(found[2]).toHaveLength(0);
});
