import { FakeClock } from '@platform/testkit';
import { expect, test } from 'vitest';
import { startWatchdog } from './watchdog.ts';

/** A thread that works continuously from its start; before that, its CPU time is unavailable. */
function startedAt(clock: FakeClock, runsFromMs: number, share = 1) {
  const cpuUsage = async (): Promise<{ user: number; system: number }> => {
    const workedMs = (clock.monotonic() - runsFromMs) * share;
    if (workedMs < 0) throw new Error('Worker instance not running');
    return { user: workedMs * 1_000, system: 0 };
  };
  return { cpuUsage, performance: { eventLoopUtilization: () => ({ idle: 0, active: 0, utilization: 0 }) } };
}

test.each([0, 100, 2_000])(
  'a thread that starts after %i ms and reads nothing is ended three seconds later',
  async (runsFromMs) => {
    const clock = new FakeClock();
    using watch = startWatchdog(startedAt(clock, runsFromMs), clock);
    await clock.advance(runsFromMs + 2_999);
    expect(watch.signal.aborted).toBe(false);
    await clock.advance(251);
    expect(watch.signal.reason).toMatchObject({ code: 'deadline_exceeded', message: expect.stringContaining('3 s') });
  },
);

test('a thread that gets a twentieth of a busy processor and reads nothing is ended within four seconds', async () => {
  const clock = new FakeClock();
  using watch = startWatchdog(startedAt(clock, 0, 1 / 20), clock);
  watch.went();
  await clock.advance(2_750);
  expect(watch.signal.aborted).toBe(false);
  await clock.advance(1_000);
  expect(watch.signal.reason).toMatchObject({
    code: 'deadline_exceeded',
    message: expect.stringMatching(/ran for 0\.[12] s/),
  });
});

test('a thread with a twentieth of a processor has time to sort its input', async () => {
  const clock = new FakeClock();
  using watch = startWatchdog(startedAt(clock, 0, 1 / 20), clock);
  watch.went();
  watch.given(20 * 1_048_576);
  // A sort takes 23 ms for each MiB.
  await clock.advance(20 * 20 * 23);
  expect(watch.signal.aborted).toBe(false);
});

test('a thread with a twentieth of a processor has time to load its program', async () => {
  const clock = new FakeClock();
  using watch = startWatchdog(startedAt(clock, 0, 1 / 20), clock);
  await clock.advance(20 * 500);
  expect(watch.signal.aborted).toBe(false);
});

test('input gives a thread time to work as long as it makes progress', async () => {
  const clock = new FakeClock();
  using watch = startWatchdog(startedAt(clock, 0), clock);
  watch.given(5 * 1_048_576);
  for (let seconds = 0; seconds < 7; seconds++) {
    watch.went();
    await clock.advance(1_000);
  }
  expect(watch.signal.aborted).toBe(false);
  watch.went();
  await clock.advance(1_250);
  expect(watch.signal.aborted).toBe(true);
});
