import { expect, test } from 'vitest';
import { openTestLog } from '../../ingest/testing/open-log.ts';
import { testEntry } from '../../ingest/testing/test-entry.ts';
import { checkLog } from './check-log.ts';

test('D33 the doctor finds every damaged or missing row of the log, and every loss that no one has accepted', async () => {
  await using on = await openTestLog();
  for (let seq = 1; seq <= 6; seq++) await on.log.append(testEntry(seq));
  // Damaging a row reopens the log.
  const found = (followed: number) => checkLog(on.log, followed).catch((caught: Error) => caught.message);
  expect(await found(3)).toBe('6 uploads in the ingest log, each as it was written');
  await on.log.truncate(2, 10);
  expect(await found(3)).toBe('4 uploads in the ingest log, each as it was written');
  await on.damage('update log set seq = 77 where position = 3');
  expect(await found(3)).toMatch(/found 1 that are not \(position 3: its part, stream/);
  await on.damage('delete from log where position = 5');
  await on.damage('update log set seq = 77 where position = 6');
  expect(await found(3)).toMatch(
    /found 3 .*position 3: .*; position 5 of part p: the row is missing; position 6: its part/,
  );
  await on.damage('delete from log where position = 6');
  expect(await found(4)).toMatch(/found 2 .*position 3: .*positions 5 to 6 of part p: 2 rows are missing/);
  for (const { damage } of [
    ...(await on.log.follow(2, { rows: 10, bytes: 1e6 })),
    ...(await on.log.follow(4, { rows: 1, bytes: 1 })),
  ])
    if (damage) await on.log.recordLoss('readings', damage);
  expect(await found(4)).toMatch(/found 2 /);
  await on.log.acceptLosses();
  expect(await found(4)).toMatch(/each as it was written/);
});
