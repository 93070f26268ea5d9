/** Fills a tabular store as ingest would, oldest first, and seals it. */
import { encodeStruct } from '../../../apps/cloud/src/tabular/testing/encode-struct.ts';
import type { OpenTabular } from '../../../apps/cloud/src/tabular/testing/open-tabular.ts';
import { componentCount, componentName, documentOf, intervalMs, readingAt } from './readings.ts';

/** The source of readings of the nth component. */
export interface Series {
  readonly robot: string;
  readonly component: string;
}

export type SeriesAt = (index: number) => Series;

/** Each component on one machine. */
export const seriesOfMachines: SeriesAt = (index) => ({
  robot: `robot-${index % 50}`,
  component: componentName(index),
});

export const partOf = ({ robot }: Series): string => `part of ${robot}`;

export interface FillOptions {
  /** Default: each component on one machine. */
  readonly seriesAt?: SeriesAt;
  /** Which share of each component's readings to fill: from this one on, and before that one. Default: 0 to 1, all. */
  readonly share?: readonly [from: number, to: number];
}

const uploadReadings = 250;
/** How far the log may be ahead of what is loaded; a running cloud allows that too. */
const uploadsAhead = 2_000;

/** Adds readings from the oldest on; at the end those in the log are sealed, unless they are to stay hot. */
export async function fill(
  store: OpenTabular,
  readings: number,
  { seriesAt = seriesOfMachines, share = [0, 1] }: FillOptions = {},
  end: 'sealed' | 'hot' = 'sealed',
): Promise<void> {
  const each = Math.ceil(readings / componentCount);
  const [first, last] = share.map((part) => Math.round(each * part)) as [number, number];
  const everyMs = intervalMs(readings);
  for (let from = first; from < last; from += uploadReadings) {
    const numbers = Array.from({ length: Math.min(uploadReadings, last - from) }, (_, i) => from + i);
    for (let index = 0; index < componentCount; index++) {
      const made = numbers.map((n) => readingAt(index, n, everyMs));
      const series = seriesAt(index);
      const partId = partOf(series);
      store.append({
        place: { organizationId: 'org-1', locationId: `loc-${index % 5}`, robotId: series.robot, partId },
        metadata: { partId, componentName: series.component },
        readings: made.map((reading) => ({ data: encodeStruct(documentOf(reading)), receivedMs: reading.receivedMs })),
        syncedMs: made.at(-1)?.receivedMs ?? 0,
      });
      if (index % 100 === 0) await caughtUp(store, uploadsAhead);
    }
  }
  if (end === 'sealed') await store.tabular.seal();
  else await caughtUp(store, 1);
}

/** Waits until fewer than `ahead` uploads in the log are not loaded. */
export async function caughtUp({ tabular }: OpenTabular, ahead: number): Promise<void> {
  for (;;) {
    const { committedPosition, loadedPosition } = tabular.lag();
    if (committedPosition - loadedPosition < ahead) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** Bytes of all sealed files, and of their rows as BSON documents. */
export async function sizesOf({ db }: OpenTabular): Promise<{ fileBytes: number; bsonBytes: number; files: number }> {
  const rows = await db.selectFrom('tabular_files').select(['file_bytes', 'logical_bytes']).execute();
  return {
    files: rows.length,
    fileBytes: rows.reduce((sum, row) => sum + row.file_bytes, 0),
    bsonBytes: rows.reduce((sum, row) => sum + row.logical_bytes, 0),
  };
}
