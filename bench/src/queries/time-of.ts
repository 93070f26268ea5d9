import { median } from '../statistics.ts';

/** Median of the times that the work takes, ms; once before it, so that files and code are warm. */
export async function timeOf(repetitions: number, work: () => Promise<unknown> | unknown): Promise<number> {
  await work();
  const times: number[] = [];
  for (let n = 0; n < repetitions; n++) {
    const started = performance.now();
    await work();
    times.push(performance.now() - started);
  }
  return median(times);
}
