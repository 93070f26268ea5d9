/** Fills a tabular store as ingest would, oldest first, and seals it. */
import { encodeStruct } from '../../../apps/cloud/src/tabular/testing/encode-struct.ts';
import type { OpenTabular } from '../../../apps/cloud/src/tabular/testing/open-tabular.ts';
import { componentCount, componentName, documentOf, intervalMs, readingAt } from './readings.ts';

const uploadReadings = 250;
/** Of the log, ahead of what is loaded: what a running cloud would let stand, too. */
const uploadsAhead = 2_000;

export async function fill(store: OpenTabular, readings: number): Promise<void> {
  const each = Math.ceil(readings / componentCount);
  const everyMs = intervalMs(readings);
  for (let from = 0; from < each; from += uploadReadings) {
    const numbers = Array.from({ length: Math.min(uploadReadings, each - from) }, (_, i) => from + i);
    for (let component = 0; component < componentCount; component++) {
      const made = numbers.map((n) => readingAt(component, n, everyMs));
      const robot = `robot-${component % 50}`;
      store.append({
        place: {
          organizationId: 'org-1',
          locationId: `loc-${component % 5}`,
          robotId: robot,
          partId: `part of ${robot}`,
        },
        metadata: { partId: `part of ${robot}`, componentName: componentName(component) },
        readings: made.map((reading) => ({ data: encodeStruct(documentOf(reading)), receivedMs: reading.receivedMs })),
        syncedMs: made.at(-1)?.receivedMs ?? 0,
      });
      if (component % 100 === 0) await caughtUp(store);
    }
  }
  await store.tabular.seal();
}

async function caughtUp({ tabular }: OpenTabular): Promise<void> {
  for (;;) {
    const { committedPosition, loadedPosition } = tabular.lag();
    if (committedPosition - loadedPosition < uploadsAhead) return;
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
