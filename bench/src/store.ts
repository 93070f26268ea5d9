/**
 * The tabular store compared with DuckDB, as one table with the requirement for each figure.
 *
 * Sections: a (all sealed), b (a million hot), c (during uploads), restart, ingest (rate, memory, CPU time), size, checksums, idle.
 */
import { measureIdle } from './demo.ts';
import { median } from './figures/statistics.ts';
import type { Figure } from './store/figure.ts';
import { countOf, startFleetWithReadings } from './store/fleet-with-readings.ts';
import { fullSpeed } from './store/full-speed.ts';
import { sealedAndHot } from './store/sealed-and-hot.ts';
import { storeSections } from './store/sections.ts';
import { underLoad } from './store/under-load.ts';

type Section = (typeof storeSections)[number];

export interface StoreLoad {
  readonly readings: number;
  readonly runs: number;
  /** Duration of each load. */
  readonly seconds: number;
  /** Sections, separated by commas; '': all. */
  readonly only: string;
  /** Folder of another checkout of this repository, whose ingest is measured in turns with ours. */
  readonly before?: string | undefined;
}

const hotReadings = 1_000_000;

export async function measureStore({ readings, runs, seconds, only, before }: StoreLoad): Promise<Figure[]> {
  const wanted: readonly string[] = only === '' ? storeSections : only.split(',');
  const wants = (section: Section): boolean => wanted.includes(section);
  const fresh = Math.min(readings, hotReadings);
  const figures: Figure[] = [];
  if (wants('a') || wants('b') || wants('size') || wants('checksums'))
    figures.push(...(await sealedAndHot({ readings, runs, wants })));
  if (wants('c')) figures.push(...(await underLoad({ readings: fresh, seconds })));
  if (wants('restart')) figures.push(await afterKill({ readings: fresh, runs }));
  if (wants('ingest')) figures.push(...(await fullSpeed({ readings, runs: Math.min(runs, 3), before })));
  if (wants('idle')) {
    const { pss_mb: value = Number.NaN, rss_mb: rss = Number.NaN } = await measureIdle();
    figures.push({
      name: 'idle PSS of npm start',
      value,
      unit: 'MB',
      most: 290,
      aim: 220,
      note: `RSS ${rss.toFixed(0)} MB`,
    });
  }
  return figures;
}

/** Just below the number at which they would be sealed. */
const mostReadings = 950_000;

/** kill -9 while readings are unsealed: the time from the start of the next process to its first answer. */
async function afterKill({ readings, runs }: { readonly readings: number; readonly runs: number }): Promise<Figure> {
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
