/** The limit of a bare timer every 5 ms that takes the due ticks of a 1 ms grid, like a collector at 1 kHz. */
import { setTimeout as sleep } from 'node:timers/promises';

const timerMs = 5;

export async function measureTimerLimit(
  seconds: number,
): Promise<{ readonly percentOfTicks: number; readonly percentOfCore: number }> {
  const [startedMs, before] = [performance.now(), process.cpuUsage()];
  let taken = 0;
  const timer = setInterval(() => {
    const due = Math.floor(performance.now() - startedMs) - taken;
    if (due > 0) taken += due;
  }, timerMs);
  await sleep(seconds * 1_000);
  clearInterval(timer);
  const passedMs = performance.now() - startedMs;
  const { user, system } = process.cpuUsage(before);
  return { percentOfTicks: (taken / passedMs) * 100, percentOfCore: ((user + system) / 1_000 / passedMs) * 100 };
}
