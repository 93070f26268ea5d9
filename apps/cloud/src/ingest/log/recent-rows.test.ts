import { FakeClock } from '@platform/testkit';
import { expect, test } from 'vitest';
import type { LogRow } from './log.ts';
import { RecentRows } from './recent-rows.ts';

const row = (position: number, bytes = 10): LogRow => ({ position, partId: 'p', batch: new Uint8Array(bytes) });
const all = { rows: 10_000, bytes: 1e9 };
const positions = (rows: readonly LogRow[] | undefined): number[] | undefined => rows?.map(({ position }) => position);

test('I3 followers get the rows after their position, in order and within the limit', () => {
  const recent = new RecentRows(new FakeClock());
  for (const position of [5, 6, 7, 8]) recent.add(row(position));
  expect(positions(recent.after(4, all))).toEqual([5, 6, 7, 8]);
  expect(positions(recent.after(6, { rows: 1, bytes: 1e9 }))).toEqual([7]);
  expect(positions(recent.after(4, { rows: 9, bytes: 25 }))).toEqual([5, 6]);
  expect(positions(recent.after(4, { rows: 9, bytes: 1 }))).toEqual([5]);
});

test('I3 a follower that is further behind, or at the end, reads the store', () => {
  const recent = new RecentRows(new FakeClock());
  expect(recent.after(0, all)).toBeUndefined();
  recent.add(row(5));
  expect(recent.after(3, all)).toBeUndefined();
  expect(recent.after(5, all)).toBeUndefined();
});

test('I3 rows before a gap are dropped, because memory cannot tell whether the missing rows were lost', () => {
  const recent = new RecentRows(new FakeClock());
  for (const position of [5, 6, 9]) recent.add(row(position));
  expect(recent.after(4, all)).toBeUndefined();
  expect(recent.after(6, all)).toBeUndefined();
  expect(positions(recent.after(8, all))).toEqual([9]);
});

test('up to 8 MiB and 1,024 consecutive rows are kept', () => {
  const clock = new FakeClock();
  using recent = new RecentRows(clock);
  for (let position = 1; position <= 2_000; position++) recent.add(row(position));
  expect(recent.after(975, all)).toBeUndefined();
  expect(recent.after(976, all)).toHaveLength(1_024);
  for (const position of [2_001, 2_002, 2_003]) recent.add(row(position, 4 << 20));
  expect(positions(recent.after(2_001, all))).toEqual([2_002, 2_003]);
  expect(recent.after(2_000, all)).toBeUndefined();
  recent.add(row(2_004, 20 << 20));
  recent.add(row(2_005));
  expect(recent.after(2_003, all)).toBeUndefined();
  expect(positions(recent.after(2_004, all))).toEqual([2_005]);
});

test('D48 the newest row is kept whatever its size, for followers that keep up, but not for ever', async () => {
  const clock = new FakeClock();
  using recent = new RecentRows(clock);
  for (const position of [1, 2]) recent.add(row(position));
  recent.add(row(3, 20 << 20));
  expect(positions(recent.after(2, all))).toEqual([3]);
  expect(recent.after(1, all)).toBeUndefined();
  await clock.advance(4_999);
  expect(positions(recent.after(2, all))).toEqual([3]);
  await clock.advance(1);
  expect(recent.after(2, all)).toBeUndefined();
  recent.add(row(4));
  expect(positions(recent.after(3, all))).toEqual([4]);
});
