import { expect, test } from 'vitest';
import { defaultStore } from '../../metadata/testing/test-store.ts';
import type { LogDamage } from '../log/log.ts';
import { openTestLog } from '../testing/open-log.ts';
import { testEntry } from '../testing/test-entry.ts';
import type { VerifiedRow } from './row-checksums.ts';

const all = { rows: 100, bytes: 1 << 20 };
const rowOf = (position: number, content = `content ${position}`): VerifiedRow => ({
  ...testEntry(position, content),
  position,
});
const lossOf = (first: number, last: number): LogDamage => ({ first, last, parts: ['p'], reason: 'lost' });

async function threeRows() {
  const on = await openTestLog();
  for (const seq of [1, 2, 3]) await on.log.append(testEntry(seq));
  return on;
}

test.each([
  ['another batch', `update log set batch = (select batch from log where position = 1) where position = 2`],
  ['another part', `update log set part = 'q' where position = 2`],
  ['another checksum', 'update log set batch_checksum = 1 where position = 2'],
  ['nothing', 'delete from log where position = 2'],
])('D33 a row is put back where the log has %s, and stays after a restart', async (_what, damage) => {
  await using on = await threeRows();
  const retained = on.log.retainedBytes();
  await on.damage(damage);
  expect(await on.log.restoreRow(rowOf(2))).toBe(true);
  expect(await on.log.restoreRow(rowOf(2))).toBe(true);
  await on.reopen();
  const rows = await on.log.follow(0, all);
  expect(rows.map(({ position, batch, damage: found }) => [position, String(Buffer.from(batch)), found])).toEqual(
    [1, 2, 3].map((position) => [position, `content ${position}`, undefined]),
  );
  expect(on.log.retainedBytes()).toBe(retained);
});

test('D33 a row of another upload does not replace a lost one, as long as any record contradicts it', async () => {
  await using on = await threeRows();
  await on.damage(`update log set batch = (select batch from log where position = 1) where position = 2`);
  // Retries are recognised by number and hash.
  expect(await on.log.restoreRow(rowOf(2, 'another'))).toBe(false);
  await on.damage('delete from dedup');
  expect(await on.log.restoreRow(rowOf(2, 'another'))).toBe(false);
  expect(await on.log.restoreRow({ ...rowOf(2), partId: 'q' })).toBe(false);
  expect((await on.log.read(1, all))[0]?.damage).toBeDefined();
  expect(await on.log.restoreRow(rowOf(2))).toBe(true);
  expect((await on.log.read(1, all))[0]?.damage).toBeUndefined();
});

test('D33 a loss ends position by position for all readers, the rest of it stays, and truncation covers the restored row', async () => {
  await using on = await threeRows();
  for (const seq of [4, 5]) await on.log.append(testEntry(seq));
  await on.damage('delete from log where position between 2 and 4');
  await on.log.recordLoss('readings', lossOf(2, 4));
  await on.log.recordLoss('triggers', lossOf(3, 3));
  await on.log.restoreRow(rowOf(3));
  await on.log.endLosses(3);
  const left = [
    { lossIn: 'readings', first: 2, last: 2 },
    { lossIn: 'readings', first: 4, last: 4 },
  ];
  expect(on.log.losses()).toMatchObject(left);
  await on.reopen();
  expect(on.log.losses()).toMatchObject(left);
  for (const position of [2, 4]) await on.log.endLosses(position);
  expect(on.log.losses()).toEqual([]);
  expect(await on.log.truncate(5, 100)).toBe(3);
  await on.reopen();
  expect(on.log.losses()).toEqual([]);
  expect(on.log.lastPosition()).toBe(5);
});

test('D33 a damaged row kept for a person can be truncated once it is restored', async () => {
  await using on = await threeRows();
  await on.damage(`update log set batch = (select batch from log where position = 1) where position = 2`);
  await on.log.recordLoss('readings', lossOf(2, 2));
  expect(await on.log.truncate(3, 100)).toBe(2);
  await on.log.restoreRow(rowOf(2));
  await on.log.endLosses(2);
  expect(await on.log.truncate(3, 100)).toBe(1);
  expect(await on.rows(`select count(*) as rows from log`)).toEqual([{ rows: defaultStore === 'postgres' ? '0' : 0 }]);
});
