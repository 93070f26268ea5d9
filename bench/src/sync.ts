/**
 * Capture and sync compared with their requirements, as one table with the raw limit beside each figure that has one.
 *
 * Pieces: backlog (--files), fast (one collector at 1 kHz), many (200 at 10 Hz), thousand (1,000 readings/s), camera (all --seconds), large
 * (--megabytes), month (--readings).
 */
import type { Figure } from './store/figure.ts';

export interface SyncLoad {
  readonly files: number;
  readonly readings: number;
  readonly megabytes: number;
  readonly seconds: number;
  /** Pieces, separated by commas; '': all. */
  readonly only: string;
}

const pieces: Readonly<Record<string, (load: SyncLoad) => Promise<Figure[]>>> = {
  backlog: async (load) => (await import('./sync/backlog.ts')).measureBacklog(load),
  fast: async (load) => (await import('./sync/capturing.ts')).measureFastCollector(load),
  many: async (load) => (await import('./sync/capturing.ts')).measureManyCollectors(load),
  thousand: async (load) => (await import('./sync/capturing.ts')).measureThousand(load),
  camera: async (load) => (await import('./sync/capturing.ts')).measureCamera(load),
  large: async (load) => (await import('./sync/large-file.ts')).measureLargeFile(load),
  month: async (load) => (await import('./sync/month.ts')).measureMonth(load),
};

export const syncPieces: readonly string[] = Object.keys(pieces);

export async function measureSync(load: SyncLoad): Promise<Figure[]> {
  const wanted = load.only === '' ? syncPieces : load.only.split(',');
  const figures: Figure[] = [];
  for (const name of wanted) figures.push(...((await pieces[name]?.(load)) ?? []));
  return figures;
}
