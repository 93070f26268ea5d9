import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Pieces } from './pieces.ts';

test('pieces of any lengths are joined in their order, also between others', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.integer({ min: 0, max: 3_000 }), fc.boolean())), (given) => {
      const pieces = new Pieces();
      const all = given.map(([length], index) => Buffer.alloc(length, index));
      for (const [index, piece] of all.entries()) {
        pieces.add(piece);
        if (given[index]?.[1] === true)
          expect(Buffer.compare(pieces.joined(), Buffer.concat(all.slice(0, index + 1)))).toBe(0);
      }
      expect(pieces.bytes).toBe(all.reduce((sum, { length }) => sum + length, 0));
      expect(Buffer.compare(pieces.joined(), Buffer.concat(all))).toBe(0);
    }),
  );
});

test('D48 pieces of one byte take hardly more memory than their bytes', () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const used = (): number => {
    collect();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  const count = 1 << 20;
  const pieces = new Pieces();
  const before = used();
  for (let index = 0; index < count; index++) pieces.add(Buffer.from([index & 0xff]));
  expect((used() - before) / count).toBeLessThan(4);
  expect(pieces.joined()).toHaveLength(count);
});
