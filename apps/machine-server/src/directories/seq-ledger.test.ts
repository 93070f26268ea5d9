import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SeqLedger } from './seq-ledger.ts';

test('I6 the low-water mark never falls and never rises above a seq that may still be sent, for own and earlier streams', () => {
  const earlier = new Uint8Array(16).fill(9);
  const step = fc.oneof(fc.constant('take' as const), fc.nat(200));
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.integer({ min: 1, max: 5_000 }), { minLength: 1 }),
      fc.array(step),
      (found, steps) => {
        const ledger = new SeqLedger();
        for (const seq of found) ledger.found(earlier, seq);
        expect(ledger.lowWaterMark(earlier, found[0]!)).toBe(0);
        ledger.complete();
        const left = new Set(found);
        const own = new Set<number>();
        let last = 0;
        for (const action of steps) {
          if (action === 'take') {
            own.add(ledger.take());
          } else {
            const [set, stream] = action % 2 === 0 ? [own, ledger.stream] : [left, earlier];
            const seq = [...set][action % Math.max(1, set.size)];
            if (seq === undefined) continue;
            set.delete(seq);
            ledger.settle(stream, seq);
          }
          for (const seq of own) expect(ledger.lowWaterMark(ledger.stream, seq)).toBe(Math.min(...own));
          for (const seq of left) expect(ledger.lowWaterMark(earlier, seq)).toBe(Math.min(...left));
          const mark = ledger.lowWaterMark(ledger.stream, Number.MAX_SAFE_INTEGER);
          expect(mark).toBeGreaterThanOrEqual(last);
          last = mark;
        }
      },
    ),
  );
});

test('I5 each start draws its own stream and counts from 1', () => {
  const [first, second] = [new SeqLedger(), new SeqLedger()];
  expect(first.stream).toHaveLength(16);
  expect(first.stream).not.toEqual(second.stream);
  expect([first.take(), first.take(), second.take()]).toEqual([1, 2, 1]);
});
