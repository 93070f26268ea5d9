import { expect, test } from 'vitest';
import { CaptureMemory } from './capture-memory.ts';

test('a series alone may use all of the memory', () => {
  const share = new CaptureMemory(1_000).share();
  share.bytes = 999;
  expect(share.hasRoom).toBe(true);
  share.bytes = 1_000;
  expect(share.hasRoom).toBe(false);
});

test('half of the memory is divided equally, whoever else waits; the rest belongs to those that come first', () => {
  const memory = new CaptureMemory(1_000);
  const [greedy, other, late] = [memory.share(), memory.share(), memory.share()];
  const most = (share: typeof greedy): number => {
    while (share.hasRoom) share.bytes++;
    return share.bytes;
  };
  expect(most(greedy)).toBe(667);
  expect(most(other)).toBe(167);
  expect(most(late)).toBe(167);
  greedy.bytes = 0;
  expect(most(other)).toBe(667);
  other[Symbol.dispose]();
  // Two are left: each has a quarter, and half is for both.
  expect([most(late), most(greedy)]).toEqual([750, 250]);
});

test('C13 all series together have 64 MiB for readings that wait', () => {
  const share = new CaptureMemory().share();
  share.bytes = 64 * 1024 * 1024 - 1;
  expect(share.hasRoom).toBe(true);
  share.bytes += 1;
  expect(share.hasRoom).toBe(false);
});
