/** Starts and queries a store with many sealed files: the time until the first answer. */

import { randomBytes } from 'node:crypto';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { addFileRow } from '../../../apps/cloud/src/tabular/catalog/catalog-rows.ts';
import { type OpenTabular, openTabular } from '../../../apps/cloud/src/tabular/testing/open-tabular.ts';
import { sizesOf } from './fill.ts';
import type { Line } from './line.ts';
import { componentName, startMs } from './readings.ts';

const dayMs = 86_400_000;
const rowsEach = 8_000;
/** Random text added to the readings, so that a file has about 2 MB. */
const textBytes = 180;

export async function coldStart(folder: string, files: number): Promise<Line[]> {
  {
    await using store = await openTabular({}, { folder });
    await makeFiles(store, folder, files);
    const { fileBytes } = await sizesOf(store);
    if (fileBytes / files > 4e6 || fileBytes / files < 1e6)
      throw new Error(`files of about 2 MB expected, found ${fileBytes / files}`);
  }
  const one = { $match: { component_name: componentName(7), capture_day: dayOf(0) } };
  const first = await started(folder, [
    one,
    { $group: { _id: null, v: { $avg: '$data.readings.temperature' }, n: { $sum: 1 } } },
  ]);
  const all = await started(folder, [{ $group: { _id: '$component_name', n: { $sum: 1 } } }]);
  const requirement = '≤ 1 s';
  return [
    { name: `cold start, ${files} files: one component of a day`, ms: first, requirement },
    { name: `cold start, ${files} files: count of all by component`, ms: all, requirement },
  ];
}

async function started(folder: string, stages: readonly Record<string, unknown>[]): Promise<number> {
  const from = performance.now();
  await using store = await openTabular({}, { folder });
  const rows = await store.mql(stages);
  const ms = performance.now() - from;
  if (rows.length === 0) throw new Error('expected rows, found none');
  return ms;
}

/** The store seals one file; the others are copies of it, each listed for a different day. */
async function makeFiles(store: OpenTabular, folder: string, files: number): Promise<void> {
  for (let component = 0; component < 20; component++) {
    const readings = Array.from({ length: rowsEach / 20 }, (_, n) => ({
      data: { readings: { temperature: n / 10, text: randomBytes(textBytes).toString('base64') } },
      receivedMs: startMs + n * 1_000,
    }));
    store.append({ metadata: { componentName: componentName(component) }, readings, syncedMs: startMs + dayMs });
  }
  await store.tabular.seal();
  const row = await store.db.selectFrom('tabular_files').selectAll().executeTakeFirstOrThrow();
  const parquet = join(folder, 'parquet');
  await store.db.transaction().execute(async (trx) => {
    for (let n = 1; n < files; n++) {
      const file = `${dayOf(n)}-copy.parquet`;
      copyFileSync(join(parquet, row.file), join(parquet, file));
      await addFileRow(trx, { ...row, file, capture_day: dayOf(n) });
    }
  });
}

function dayOf(n: number): string {
  return new Date(startMs + n * dayMs).toISOString().slice(0, 10);
}
