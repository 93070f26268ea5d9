/** The sealed files of a snapshot with their facts, which are read only once because files never change. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { getOrInsert } from '@platform/base';
import { parquetFormat } from '../../catalog/parquet-format.ts';
import { isInScope, isOfAll, mayKeepSeries } from '../../catalog/row-filter.ts';
import { type FileFacts, readFacts } from '../files/file-facts.ts';
import { type Slice, wholeFile } from '../files/slice.ts';
import type { FileRef, ScanRequest } from '../messages.ts';
import { StaleSnapshot } from '../query/stale-snapshot.ts';
import type { TimeName } from './conditions/operand.ts';
import { type SeriesValues, seriesValues } from './series/series-values.ts';

export interface OpenFile {
  readonly path: string;
  readonly captureDay: string;
  readonly facts: FileFacts;
  readonly values: SeriesValues;
  /** By series number: 1 when the caller may see its rows. If a row of another series is read, the query ends with an error. */
  readonly allowed: Uint8Array;
  /** Numbers of the series that the caller may see and that the plan's filters on path and times may keep, ascending. */
  readonly wanted: readonly number[];
  /** Rows at later positions are not in the snapshot; set for a hot file written after the snapshot was opened. */
  readonly upTo?: number;
}

export interface KnownFacts {
  /**
   * Reads all facts at once, so that a thousand files cost one statement. Throws StaleSnapshot when a file does not exist.
   * @param unchanged throws when a file changed since it was verified; its facts are then not kept
   */
  of(connection: DuckDBConnection, files: readonly FileRef[], unchanged: () => void): Promise<readonly FileFacts[]>;
  forget(files: readonly string[]): void;
}

/** @param maxBytes limit of cached facts; the oldest are evicted first */
export function createKnownFacts(parquetDir: string, maxBytes: number = 256 << 20): KnownFacts {
  const known = new Map<string, FileFacts>();
  let bytes = 0;
  const forget = (file: string): void => {
    bytes -= known.get(file)?.bytes ?? 0;
    known.delete(file);
  };
  return {
    async of(connection, files, unchanged) {
      const missing = files.filter(({ file }) => !known.has(file));
      for (const { file, format } of missing)
        if (format !== parquetFormat)
          throw new Error(
            `${file}: expected format ${parquetFormat}, found ${format}; it was written by a different version`,
          );
      const found = new Map<string, FileFacts>();
      if (missing.length > 0) {
        for (const { file } of missing)
          if (!existsSync(join(parquetDir, file)))
            throw new StaleSnapshot(`${file} does not exist: it was merged meanwhile, or is lost`);
        const read = await readFacts(
          connection,
          missing.map(({ file }) => join(parquetDir, file)),
        );
        unchanged();
        for (const { file } of missing) found.set(file, read.get(join(parquetDir, file)) as FileFacts);
      }
      const answer = files.map(({ file }) => (known.get(file) ?? found.get(file)) as FileFacts);
      for (const [file, facts] of found) {
        if (known.has(file)) continue;
        known.set(file, facts);
        bytes += facts.bytes;
      }
      for (const file of known.keys()) {
        if (bytes <= maxBytes) break;
        forget(file);
      }
      return answer;
    },
    forget(files) {
      for (const file of files) forget(file);
    },
  };
}

/** Opens a sealed file with the parts that a query may need; the same with and without push-down. */
export function openFile(path: string, { captureDay }: FileRef, facts: FileFacts, request: ScanRequest): OpenFile {
  if (facts.series.length > 0 && ownerOf(facts) !== request.scope.organizationId)
    throw new Error(`${path} holds rows of another organization; nothing is answered`);
  return openSlice(wholeFile(path, captureDay, facts), request);
}

/** @param upTo last position of the file's rows in the snapshot; absent: all */
export function openSlice(slice: Slice, request: ScanRequest, upTo?: number): OpenFile {
  const { path, captureDay, facts } = slice;
  const { scope, filter } = request;
  const timed = (['received', 'requested', 'synced'] as const).filter((name) => filter.times[`time_${name}`]);
  const isUncut = timed.length === 0 && isOfAll(scope) && Object.values(filter.columns).every((bounds) => !bounds);
  const { allowed, wanted } =
    isUncut && ownerOf(facts) === scope.organizationId ? wholeSlice(slice) : chosenSeries(slice, request, timed);
  return {
    path,
    captureDay,
    facts,
    values: seriesValues(facts, captureDay, request.vocabulary),
    allowed,
    wanted,
    ...(upTo !== undefined && { upTo }),
  };
}

type ChosenSeries = Pick<OpenFile, 'allowed' | 'wanted'>;

const whole = new WeakMap<FileFacts, ChosenSeries>();

/** All series of a slice, cached because most queries need them from every file. */
function wholeSlice({ facts, series, first }: Slice): ChosenSeries {
  return getOrInsert(whole, facts, () => ({
    allowed: new Uint8Array(facts.series.length).fill(1, first, first + series.length),
    wanted: Array.from(series, (_, i) => first + i),
  }));
}

function chosenSeries(
  { facts, series: own, first }: Slice,
  { scope, filter }: ScanRequest,
  timed: readonly TimeName[],
): ChosenSeries {
  const wanted: number[] = [];
  const allowed = new Uint8Array(facts.series.length);
  for (const [i, series] of own.entries()) {
    const number = first + i;
    if (!isInScope(series.path, scope)) continue;
    allowed[number] = 1;
    if (!mayKeepSeries(series.path, filter)) continue;
    const isPast = timed.some((name) => {
      const bounds = filter.times[`time_${name}`];
      if (bounds === undefined) return false;
      const { min, max, missing } = series[name];
      const canBeMissing = missing > 0 && bounds.from === undefined;
      if (canBeMissing) return false;
      return (
        min === null ||
        max === null ||
        (bounds.from !== undefined && max < bounds.from) ||
        (bounds.to !== undefined && min > bounds.to)
      );
    });
    if (!isPast) wanted.push(number);
  }
  return { allowed, wanted };
}

const owners = new WeakMap<FileFacts, string | undefined>();

/** The organization of all series of a file; undefined when there are several or none. */
function ownerOf(facts: FileFacts): string | undefined {
  if (owners.has(facts)) return owners.get(facts);
  const [first, ...others] = new Set(facts.series.map(({ path }) => path.organization_id));
  const owner = others.length === 0 ? first : undefined;
  owners.set(facts, owner);
  return owner;
}

/** Paths of sealed files, which are verified before they are read. The hot rows check hot files. */
export function sealedPaths(files: readonly OpenFile[]): string[] {
  return files.flatMap(({ path, facts }) => (facts.hasPaths === false ? [] : [path]));
}
