import { expect, test } from 'vitest';
import { silentLog } from '../log.ts';
import { systemClock } from './clock.ts';
import { follow } from './follow.ts';

const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await systemClock.sleep(1);
};

test('a step that reports more work is called again at once, and a wake during a step is not lost', async () => {
  let steps = 0;
  let queued = 3;
  await using loop = follow({
    name: 't',
    clock: systemClock,
    log: silentLog,
    idleMs: 3_600_000,
    step: async () => {
      steps++;
      queued--;
      return queued > 0;
    },
  });
  await until(() => steps === 3);
  queued = 1;
  loop.wake();
  await until(() => steps === 4);
  expect(loop.failures).toBe(0);
});

test('a failing step is retried with increasing delays, and counts as failing until it succeeds', async () => {
  const waits: number[] = [];
  const clock = {
    ...systemClock,
    sleep: async (ms: number, signal?: AbortSignal) => {
      if (ms < 3_600_000) waits.push(ms);
      return systemClock.sleep(ms < 3_600_000 ? 0 : ms, signal);
    },
  };
  let steps = 0;
  await using loop = follow({
    name: 't',
    clock,
    log: silentLog,
    idleMs: 3_600_000,
    backoff: { firstMs: 100, jitter: 0 },
    step: async () => {
      if (++steps < 4) throw new Error('not yet');
      return false;
    },
  });
  await until(() => steps === 4 && loop.failures === 0);
  expect(waits).toEqual([100, 200, 400]);
});

test('disposing aborts the signal of the running step and waits for it', async () => {
  let ended = false;
  let running = false;
  const loop = follow({
    name: 't',
    clock: systemClock,
    log: silentLog,
    step: async (signal) => {
      running = true;
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      ended = true;
      return false;
    },
  });
  await until(() => running);
  await loop[Symbol.asyncDispose]();
  expect(ended).toBe(true);
});

test('what may have ended the reason of a failure ends the wait after it', async () => {
  let steps = 0;
  await using loop = follow({
    name: 't',
    clock: systemClock,
    log: silentLog,
    idleMs: 3_600_000,
    backoff: { firstMs: 3_600_000, maxMs: 3_600_000 },
    step: async () => {
      if (++steps < 3) throw new Error('away');
      return false;
    },
  });
  for (const failures of [1, 2]) {
    await until(() => loop.failures === failures);
    // The wait begins in the same turn.
    await systemClock.sleep(0);
    loop.retry();
  }
  await until(() => loop.failures === 0);
  expect(steps).toBe(3);
});
