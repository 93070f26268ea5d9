import { median } from '../figures/statistics.ts';

type Work = () => Promise<unknown> | unknown;

/** Median time of the work, ms. Runs it once before, so that files and code are warm. */
export async function timeOf(repetitions: number, work: Work): Promise<number> {
  const [time = 0] = await timesInTurns(repetitions, [work], 1);
  return time;
}

/**
 * The same for several kinds of work in turns, so that other load on the computer affects all of them. @param warmUp turns that do not
 * count. Default: as many as count, because a long-running process has its code compiled.
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
