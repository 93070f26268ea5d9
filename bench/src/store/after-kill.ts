/** kill -9 while readings are unsealed: the time from the start of the next process to its first answer. */
import { median } from '../figures/statistics.ts';
import type { Figure } from './figure.ts';
import { countOf, startFleetWithReadings } from './fleet-with-readings.ts';

/** Just below the number at which they would be sealed. */
const mostReadings = 950_000;

export async function afterKill({
  readings,
  runs,
}: {
  readonly readings: number;
  readonly runs: number;
}): Promise<Figure> {
  await using filled = await startFleetWithReadings(Math.min(readings, mostReadings), {
    env: { PLATFORM_SEAL_AGE: '24h' },
  });
  const { cloud } = filled;
  const readyMs: number[] = [];
  const answeredMs: number[] = [];
  for (let run = 0; run < runs; run++) {
    await cloud.kill();
    const started = performance.now();
    await cloud.restart();
    readyMs.push(performance.now() - started);
    const counted = await countOf(cloud);
    answeredMs.push(performance.now() - started);
    if (counted !== filled.readings) throw new Error(`expected ${filled.readings} readings, found ${counted}`);
  }
  const note = `${filled.readings} unsealed; from the process's start, ready after ${median(readyMs).toFixed(0)} ms; median of ${runs}`;
  return { name: 'first answer after kill -9', value: median(answeredMs), unit: 'ms', most: 1_500, note };
}
