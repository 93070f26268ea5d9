import { expect, test } from 'vitest';
import { SharedBuffer } from './shared-buffer.ts';

const filled = (length: number, value: number): Uint8Array => new Uint8Array(length).fill(value);

test('returned memory is reused, and memory still in use is not', () => {
  const room = new SharedBuffer();
  const first = room.copy(filled(100_000, 1));
  const second = room.copy(filled(100_000, 2));
  expect(second.buffer).not.toBe(first.buffer);
  room.giveBack(first);
  const third = room.copy(filled(90_000, 3));
  expect(third.buffer).toBe(first.buffer);
  expect(third).toEqual(filled(90_000, 3));
  expect(second).toEqual(filled(100_000, 2));
  room.giveBack(third);
  expect(room.copy(filled(1_000_000, 4)).buffer).not.toBe(third.buffer);
});

test('only a few megabytes are kept', () => {
  const room = new SharedBuffer();
  const large = room.copy(filled(9 << 20, 1));
  room.giveBack(large);
  expect(room.copy(filled(9 << 20, 2)).buffer).not.toBe(large.buffer);
});
