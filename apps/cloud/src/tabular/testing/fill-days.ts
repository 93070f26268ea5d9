/** Stores with days of sealed readings, in folders that outlive them. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { create } from '@bufbuild/protobuf';
import * as wkt from '@bufbuild/protobuf/wkt';
import { type OpenTabular, testPlace } from './open-tabular.ts';

const dayMs = 86_400_000;
/** Noon, far from midnight. */
const newestMs = Date.UTC(2026, 4, 17, 12);

/**
 * Seals days of readings of several series with everything a row can have: per day `rowsOfDay` rows of each of two components, numbered
 * from `first`.
 */
export async function fillDays(store: OpenTabular, days: number, rowsOfDay: number, first: number): Promise<void> {
  for (let day = 0; day < days; day++)
    for (const componentName of ['cpu', 'disk']) {
      const nested = create(wkt.StructSchema, {
        fields: { b: { kind: { case: 'numberValue', value: day } }, a: { kind: { case: 'boolValue', value: true } } },
      });
      store.append({
        place: { ...testPlace, partId: `part-${day % 2}` },
        metadata: {
          componentName,
          tags: ["it's", componentName],
          methodParameters: { input: wkt.anyPack(wkt.StructSchema, nested) },
        },
        readings: Array.from({ length: rowsOfDay }, (_, at) => first + at).map((i) => ({
          data: { i, day, text: `t${i % 7}`, mixed: i % 3 === 0 ? null : i % 3 === 1 ? [i] : { deep: -0 } },
          receivedMs: i % 5 === 0 ? null : newestMs - day * dayMs + i,
          requestedMs: i % 4 === 0 ? null : newestMs - day * dayMs,
        })),
        syncedMs: newestMs - day * dayMs,
      });
    }
  await store.tabular.seal();
}

/** Runs with a folder that outlives the stores opened in it. */
export async function inFolder(run: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'tabular-'));
  try {
    await run(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
