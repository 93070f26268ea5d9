import { createLog, follow, silentLog } from '@platform/base';
import { FakeClock } from '@platform/testkit';
import { expect, test } from 'vitest';
import { openTestLog, testEntry } from './testing/open-log.ts';
import { truncateStep } from './truncate-step.ts';

test('I12 the log is truncated in batches up to the slowest follower and no further', async () => {
  await using opened = await openTestLog();
  await Promise.all(Array.from({ length: 250 }, (_, index) => opened.log.append(testEntry(index + 1))));
  const step = truncateStep({ ingestLog: opened.log, log: silentLog, clock: new FakeClock(), floor: async () => 220 });
  const { signal } = new AbortController();
  const more = [await step(signal), await step(signal), await step(signal), await step(signal)];
  expect(more).toEqual([true, true, false, false]);
  expect(opened.log.read(0, { rows: 500, bytes: 2 ** 30 }).map(({ position }) => position)).toEqual(
    Array.from({ length: 30 }, (_, index) => 221 + index),
  );
});

test('I12 a follower that stands still raises an alarm, and its rows stay', async () => {
  const clock = new FakeClock();
  await using opened = await openTestLog();
  await Promise.all([1, 2, 3].map((seq) => opened.log.append(testEntry(seq))));
  const errors: string[] = [];
  const log = createLog((level, _logger, message) => void (level === 'error' && errors.push(message)));
  let floor = 1;
  await using _ = follow({
    name: 'truncate',
    clock,
    log,
    step: truncateStep({ ingestLog: opened.log, log, clock, floor: async () => floor }),
  });
  const wait = async (seconds: number): Promise<void> => {
    for (let second = 0; second < seconds; second++) {
      await clock.advance(1_000);
      while (clock.waiting === 0) await new Promise((resolve) => setImmediate(resolve));
    }
  };
  await wait(590);
  expect(errors).toEqual([]);
  await wait(20);
  expect(errors).toEqual([expect.stringContaining('stands still')]);
  expect(opened.log.read(0, { rows: 9, bytes: 2 ** 30 }).map(({ position }) => position)).toEqual([2, 3]);
  floor = 3;
  await wait(1_300);
  expect(errors).toHaveLength(1);
  expect(opened.log.read(0, { rows: 9, bytes: 2 ** 30 })).toEqual([]);
});
