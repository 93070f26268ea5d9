import { median } from '../figures/statistics.ts';

type Work = () => Promise<unknown> | unknown;

/** Median of the times that the work takes, ms; once before it, so that files and code are warm. */
export async function timeOf(repetitions: number, work: Work): Promise<number> {
  const [time = 0] = await timesInTurns(repetitions, [work], 1);
  return time;
}

/**
 * The same of several, by turns, so that what else the computer does falls on all.
 * @param warmUp turns that do not count. Default: as many as count, for a process that runs for days has its code compiled.
 */
export async function timesInTurns(
  repetitions: number,
  works: readonly Work[],
  warmUp = repetitions,
): Promise<readonly number[]> {
  const times = works.map((): number[] => []);
  for (let turn = -warmUp; turn < repetitions; turn++) {
    for (const [at, work] of works.entries()) {
      const started = performance.now();
      await work();
      if (turn >= 0) times[at]?.push(performance.now() - started);
    }
  }
  return times.map(median);
}
