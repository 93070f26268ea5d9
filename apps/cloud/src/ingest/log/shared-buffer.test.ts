import { expect, test } from 'vitest';
import { SharedBuffer } from './shared-buffer.ts';

const filled = (length: number, value: number): Uint8Array => new Uint8Array(length).fill(value);

test('returned memory is reused, and memory still in use is not', () => {
  const room = new SharedBuffer();
  const first = room.copy(filled(100_000, 1));
  const second = room.copy(filled(100_000, 2));
  room.giveBack(first);
  const third = room.copy(filled(90_000, 3));
  expect([third.buffer, third.byteOffset]).toEqual([first.buffer, first.byteOffset]);
  const fourth = room.copy(filled(200_000, 4));
  expect([second, third, fourth]).toEqual([filled(100_000, 2), filled(90_000, 3), filled(200_000, 4)]);
  expect(fourth.byteOffset).toBeGreaterThan(second.byteOffset);
});

test('batches of all sizes, returned in any order, need no separate memory', () => {
  const room = new SharedBuffer();
  const { buffer } = room.copy(filled(1, 0));
  const inUse: Uint8Array<SharedArrayBuffer>[] = [];
  for (let n = 1; n <= 2_000; n++) {
    const batch = room.copy(filled(Math.round(100 * 40_000 ** ((n * 0.618_034) % 1)), n % 256));
    expect(batch.buffer).toBe(buffer);
    inUse.push(batch);
    // Three at a time; the oldest and the newest are returned alternately.
    if (inUse.length > 2) room.giveBack((n % 2 === 0 ? inUse.shift() : inUse.splice(1, 1)[0]) ?? batch);
  }
});

test('beyond a few megabytes, batches get memory that is not reused', () => {
  const room = new SharedBuffer();
  const large = room.copy(filled(9 << 20, 1));
  const second = room.copy(filled(9 << 20, 2));
  expect(second.buffer).not.toBe(large.buffer);
  expect([large.at(-1), second.at(-1)]).toEqual([1, 2]);
  room.giveBack(second);
  expect(room.copy(filled(9 << 20, 3)).buffer).not.toBe(second.buffer);
});
