import { createLog, follow, silentLog } from '@platform/base';
import { FakeClock } from '@platform/testkit';
import { expect, test } from 'vitest';
import { openTestLog } from '../testing/open-log.ts';
import { testEntry } from '../testing/test-entry.ts';
import { truncateStep } from './truncate-step.ts';

test('I12 the log is truncated in batches up to the slowest follower and no further', async () => {
  await using opened = await openTestLog();
  await Promise.all(Array.from({ length: 250 }, (_, index) => opened.log.append(testEntry(index + 1))));
  const step = truncateStep({
    ingestLog: opened.log,
    log: silentLog,
    clock: new FakeClock(),
    lowWaterMark: async () => 220,
  });
  const { signal } = new AbortController();
  const more = [await step(signal), await step(signal), await step(signal), await step(signal)];
  expect(more).toEqual([true, true, true, false]);
  expect((await opened.log.read(0, { rows: 500, bytes: 2 ** 30 })).map(({ position }) => position)).toEqual(
    Array.from({ length: 30 }, (_, index) => 221 + index),
  );
});

test('I12 one step removes only a few large rows: uploads wait while it runs', async () => {
  await using opened = await openTestLog(undefined, 'sqlite');
  const batch = new Uint8Array(400_000).fill(1);
  for (let seq = 1; seq <= 8; seq++) await opened.log.append(testEntry(seq, `${seq}`, { batch }));
  const rowsLeft = async (): Promise<number> => (await opened.log.read(0, { rows: 100, bytes: 2 ** 30 })).length;
  const removed: number[] = [];
  for (let left = 8; left > 0; left = await rowsLeft()) removed.push(await opened.log.truncate(8, 100));
  expect(removed).toEqual([3, 3, 2]);
});

/** Far shorter than the time until the alarm. */
const stepMs = 60_000;

/** Runs truncation on a fake clock and collects its log messages by level. */
async function truncating(rows: number) {
  const clock = new FakeClock();
  const opened = await openTestLog();
  const append = (seq: number): Promise<unknown> => opened.log.append(testEntry(seq));
  for (let seq = 1; seq <= rows; seq++) await append(seq);
  const lines: Record<string, string[]> = { error: [], info: [] };
  const log = createLog((level, _logger, message) => void lines[level]?.push(message));
  const lowWaterMark = { position: 1 };
  const step = truncateStep({ ingestLog: opened.log, log, clock, lowWaterMark: async () => lowWaterMark.position });
  const follower = follow({ name: 'truncate', clock, log, step, idleMs: stepMs });
  return {
    opened,
    append,
    lines,
    lowWaterMark,
    async wait(minutes: number): Promise<void> {
      for (let waitedMs = 0; waitedMs < minutes * 60_000; waitedMs += stepMs) {
        await clock.advance(stepMs);
        while (clock.waiting === 0) await new Promise((resolve) => setImmediate(resolve));
      }
    },
    async [Symbol.asyncDispose]() {
      await follower[Symbol.asyncDispose]();
      await opened[Symbol.asyncDispose]();
    },
  };
}

test('I12 a follower that does not move raises an alarm, and its rows stay', async () => {
  await using log = await truncating(3);
  await log.wait(29);
  expect(log.lines['error']).toEqual([]);
  await log.wait(2);
  expect(log.lines['error']).toEqual([expect.stringContaining('is stalled')]);
  expect((await log.opened.log.read(0, { rows: 9, bytes: 2 ** 30 })).map(({ position }) => position)).toEqual([2, 3]);
  log.lowWaterMark.position = 3;
  await log.wait(32);
  expect(log.lines['error']).toHaveLength(1);
  expect(log.lines['info']).toEqual([expect.stringContaining('makes progress again')]);
  expect(await log.opened.log.read(0, { rows: 9, bytes: 2 ** 30 })).toEqual([]);
});

test('I12 rows that wait for their seal age, seal after seal, raise no alarm', async () => {
  await using log = await truncating(2);
  for (let seal = 0; seal < 4; seal++) {
    // The oldest row has reached the seal age, and sealing took a while.
    await log.wait(11);
    log.lowWaterMark.position++;
    await log.append(log.lowWaterMark.position + 2);
  }
  expect(log.lines).toEqual({ error: [], info: [] });
});
