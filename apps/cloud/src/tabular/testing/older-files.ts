/** Replaces the sealed files of a store by files as written by earlier versions (format 1). */
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { create } from '@bufbuild/protobuf';
import * as wkt from '@bufbuild/protobuf/wkt';
import { DuckDBInstance, LIST, VARCHAR } from '@duckdb/node-api';
import { newId } from '@platform/base';
import { BsonDocument, decodeBson, encodeBson, seriesColumns } from '@platform/query';
import { quoted } from '../process/duckdb/database.ts';
import { readSeries } from '../process/files/parquet-file.ts';
import { forgetChecks } from './forget-checks.ts';
import { type OpenTabular, testPlace } from './open-tabular.ts';

/** Replaces every listed file by one of format 1 with the same rows; returns their names. The replaced files are unlisted, not removed. */
export async function makeFilesOlder({ db, dataDir }: Pick<OpenTabular, 'db' | 'dataDir'>): Promise<string[]> {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  const names: string[] = [];
  try {
    for (const listed of await db.selectFrom('tabular_files').selectAll().execute()) {
      const from = join(dataDir, 'parquet', listed.file);
      const series = (await readSeries(connection, from)).map((each) => ({
        ...each,
        additionalParameters: unsorted(each.additionalParameters),
      }));
      const text = seriesColumns.map((column) => `${column} VARCHAR NOT NULL`).join(', ');
      await connection.run(
        `CREATE OR REPLACE TABLE series (number INTEGER, ${text}, tags VARCHAR[], additional_parameters BLOB)`,
      );
      const appender = await connection.createAppender('series');
      for (const [number, { path, tags, additionalParameters }] of series.entries()) {
        appender.appendInteger(number);
        for (const column of seriesColumns) appender.appendVarchar(path[column]);
        appender.appendList([...tags], LIST(VARCHAR));
        appender.appendBlob(additionalParameters);
        appender.endRow();
      }
      appender.closeSync();
      const metadata = series.map(({ path, tags, additionalParameters }) => ({
        path,
        tags,
        additionalParameters: Buffer.from(additionalParameters).toString('base64'),
      }));
      const file = `${listed.capture_day}-${newId()}.parquet`;
      const to = join(dataDir, 'parquet', file);
      await connection.run(
        `COPY (
          SELECT ${seriesColumns.map((column) => `s.${column}`).join(', ')}, r.capture_day, r.time_requested, r.time_received,
            r.time_synced, s.tags, s.additional_parameters, r.position, r."index", s.number AS series, r.data
          FROM read_parquet(${quoted(from)}) r JOIN series s ON r.series = s.number
          ORDER BY s.number, r.time_received NULLS FIRST, r.position, r."index"
        ) TO ${quoted(to)} (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 61440,
          KV_METADATA {'platform.series': ${quoted(JSON.stringify(metadata))}})`,
      );
      const { size: file_bytes } = await stat(to);
      await db
        .updateTable('tabular_files')
        .set({ file, format: 1, file_bytes })
        .where('file', '=', listed.file)
        .execute();
      names.push(file);
    }
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
  await forgetChecks(db);
  return names;
}

/** Earlier versions sorted only the names of the first level. */
function unsorted(parameters: Uint8Array): Uint8Array {
  const turned = [...decodeBson(parameters)].map(
    ([name, value]) =>
      [name, value instanceof BsonDocument ? new BsonDocument([...value].toReversed()) : value] as const,
  );
  return encodeBson(new BsonDocument(turned));
}

const dayMs = 86_400_000;
/** Noon, far from midnight. */
const newestMs = Date.UTC(2026, 4, 17, 12);
/** The newest day that fillDays fills. */
export const newestDay = '2026-05-17';

/** Seals days of readings of several series with everything a row can have: per day `rowsOfDay` rows of each of two components. */
export async function fillDays(store: OpenTabular, days: number, rowsOfDay: number): Promise<void> {
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
        readings: Array.from({ length: rowsOfDay }, (_, i) => ({
          data: { i, day, text: `t${i % 7}`, mixed: i % 3 === 0 ? null : i % 3 === 1 ? [i] : { deep: -0 } },
          receivedMs: i % 5 === 0 ? null : newestMs - day * dayMs + i,
          requestedMs: i % 4 === 0 ? null : newestMs - day * dayMs,
        })),
        syncedMs: newestMs - day * dayMs,
      });
    }
  await store.tabular.seal();
}

export async function formatsOf(store: OpenTabular): Promise<number[]> {
  const rows = await store.db.selectFrom('tabular_files').select('format').distinct().execute();
  return rows.map(({ format }) => format);
}

/** Runs with a folder that outlives the stores opened in it. */
export async function inFolder(run: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'older-'));
  try {
    await run(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
