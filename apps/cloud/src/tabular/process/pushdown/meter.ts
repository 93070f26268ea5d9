/**
 * The bytes metered for a query (D26): the logical bytes of undeleted rows of the series that it requests, within the bounds of its times.
 * Neither push-down nor the rest of the plan changes them.
 */

import type { DuckDBConnection } from '@duckdb/node-api';
import { getOrInsert, memoized } from '@platform/base';
import { coversSeries } from '../../catalog/row-filter.ts';
import type { Series } from '../../catalog/series.ts';
import type { FileFacts, SeriesFacts } from '../files/file-facts.ts';
import type { VerifiedReader } from '../files/verify-files.ts';
import type { ScanRequest } from '../messages.ts';
import { documentOverheadBytes } from '../rows/row-documents.ts';
import { rowConditions } from './conditions/row-conditions.ts';
import { and, type Bind, Binds, onlyUsed } from './conditions/sql.ts';
import { type OpenFile, sealedPaths } from './open-files.ts';
import { chunksOf } from './run-statement.ts';

/** For most files the footers are sufficient. Others are queried; similar files share a statement. */
export async function meteredBytes(
  connection: DuckDBConnection,
  files: readonly OpenFile[],
  request: ScanRequest,
  reader: Pick<VerifiedReader, 'rows'>,
): Promise<number> {
  let bytes = 0;
  const isUncut = request.deletes.length === 0 && Object.keys(request.filter.times).length === 0;
  const asked = new Map<string, { sql: string; binds: readonly Bind[]; files: OpenFile[] }>();
  for (const file of files) {
    const inPart: number[] = [];
    if (isUncut && file.upTo === undefined && file.wanted.length === file.facts.series.length) {
      bytes += wholeBytes(file.facts);
      continue;
    }
    for (const number of file.wanted) {
      const series = file.facts.series[number] as SeriesFacts;
      if ((isUncut && file.upTo === undefined) || isWhole(series, file, request))
        bytes += series.dataBytes + series.rows * overheadOf(series);
      else inPart.push(number);
    }
    if (inPart.length === 0) continue;
    const binds = new Binds();
    const { sql, binds: used } = onlyUsed(and(rowConditions(file, inPart, request, binds)), binds.values);
    const key = JSON.stringify([sql, used.map(({ value }) => String(value))]);
    getOrInsert(asked, key, () => ({ sql, binds: used, files: [] })).files.push(file);
  }
  for (const { sql, binds, files: alike } of asked.values()) {
    await reader.rows(sealedPaths(alike));
    const statement = `SELECT CAST(file_index AS INTEGER), series, count(*), CAST(sum(size) AS BIGINT) FROM read_parquet($1) WHERE ${sql} GROUP BY 1, 2`;
    for await (const chunk of chunksOf(connection, { sql: statement, files: alike, binds })) {
      const [file, series, rows, sizes] = [chunk.int32(0), chunk.int32(1), chunk.int64(2), chunk.int64(3)];
      for (let row = 0; row < chunk.rows; row++) {
        const facts = alike[file[row] as number]?.facts.series[series[row] as number] as SeriesFacts;
        bytes += Number(sizes[row]) + Number(rows[row]) * overheadOf(facts);
      }
    }
  }
  return bytes;
}

const wholeBytes = memoized(({ series }: FileFacts): number =>
  series.reduce((sum, each) => sum + each.dataBytes + each.rows * overheadOf(each), 0),
);

const overheadOf = memoized<Series, number>(documentOverheadBytes);

function isWhole(series: SeriesFacts, { captureDay, upTo }: OpenFile, { filter, deletes }: ScanRequest): boolean {
  if (upTo !== undefined) return false;
  if (deletes.some(({ predicate }) => coversSeries(series, predicate, captureDay))) return false;
  return (['received', 'requested', 'synced'] as const).every((name) => {
    const bounds = filter.times[`time_${name}`];
    if (bounds === undefined) return true;
    const { min, max, missing } = series[name];
    if (bounds.from !== undefined && (missing > 0 || min === null || min < bounds.from)) return false;
    return bounds.to === undefined || max === null || max <= bounds.to;
  });
}
