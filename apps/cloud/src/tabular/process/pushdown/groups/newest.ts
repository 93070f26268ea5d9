/**
 * Takes the newest row of each series from the footers, for queries such as "latest reading of each component". In every group, the first
 * row by descending `time_received` is the newest row of some series in its files or among the hot rows.
 */
import { getOrInsert, memoized } from '@platform/base';
import { type Batch, BsonDate, canFail, type Expr, type PlanSplit } from '@platform/query';
import { dayNumber } from '../../../../reading-codec/capture-day.ts';
import { coversSeries } from '../../../catalog/row-filter.ts';
import type { FileFacts, NewestRow, SeriesFacts } from '../../files/file-facts.ts';
import type { ScanRequest } from '../../messages.ts';
import { noTime } from '../../rows/row-buffer.ts';
import { type RowColumns, rowDocuments } from '../../rows/row-documents.ts';
import type { Wanted } from '../choose-pushdown.ts';
import { referencedFields } from '../conditions/referenced-fields.ts';
import type { OpenFile } from '../open-files.ts';
import { identityOf, numberingOf } from '../series/series-identity.ts';
import { isOfSeries } from '../series/series-values.ts';
import { millisecondsOf } from './group-states.ts';

/** Whether only the newest row of each series can matter. */
export function needsNewest({ split, parts, sure }: Wanted, { filter }: ScanRequest): boolean {
  if (sure < parts.length || !endsInNewest(split)) return false;
  if (filter.times.time_requested !== undefined || filter.times.time_synced !== undefined) return false;
  if (filter.times.time_received?.to !== undefined) return false;
  return parts.every((part) => isOfSeries(part) || isReceivedSince(part));
}

function endsInNewest({ end }: PlanSplit): boolean {
  if (end === 'rows') return false;
  const isNewest = (by: readonly { path: readonly string[]; descending: boolean }[] | undefined): boolean =>
    by?.length === 1 && by[0]?.descending === true && by[0].path.join('.') === 'time_received';
  if (end.k === 'sort') return end.top === 1 && isNewest(end.by);
  if (end.k !== 'group') return false;
  // An expression that can fail may fail for any row of the group, not only for the newest.
  const takesNewest = end.accumulators.every(([, { fn, by, arg }]) => fn === 'top' && isNewest(by) && !canFail(arg));
  return isOfSeries(end.key) && end.accumulators.length > 0 && takesNewest;
}

/** Whether no older row passes if the newest does not. */
function isReceivedSince(part: Expr): boolean {
  if (part.k !== 'call') return false;
  const [left, right] = part.args;
  const isTime = left?.k === 'field' && left.path.join('.') === 'time_received';
  return /^(match|agg|sql)\.gte?$/.test(part.fn) && isTime && right?.k === 'lit' && right.value instanceof BsonDate;
}

/** Series of a file whose newest rows are needed. */
export interface NewestOf {
  readonly file: OpenFile;
  readonly numbers: readonly number[];
}

/** Undefined when the footer lacks some of them. */
export function newestOf(file: OpenFile, { parts }: Wanted, request: ScanRequest): NewestOf | undefined {
  if (file.upTo !== undefined) return undefined;
  let numbers = file.wanted;
  for (const part of parts) {
    if (!isOfSeries(part)) continue;
    const keeps = file.values.keeps(part);
    if (keeps === undefined) return undefined;
    numbers = numbers.filter((number) => keeps[number]);
  }
  for (const number of numbers) {
    const series = file.facts.series[number] as SeriesFacts;
    if (series.newest === undefined) return undefined;
    if (request.deletes.some(({ predicate }) => coversSeries(series, predicate, file.captureDay))) return undefined;
  }
  return { file, numbers };
}

/**
 * Rows in the order of the files. For a series in several files only the newest row is included (the first of equally new ones), unless the
 * plan distinguishes days.
 */
export function newestRows(found: readonly NewestOf[], { split, parts }: Wanted, request: ScanRequest): Batch {
  const keys = split.end !== 'rows' && split.end.k === 'group' ? [split.end.key] : [];
  const byDay = [...keys, ...parts].some(
    (expr) => referencedFields(expr)?.some(([name]) => name === 'capture_day') ?? true,
  );
  const winners = new Map<string, Winner>();
  for (const { day, files } of alike(found, byDay)) {
    for (const winner of winnersOf(files)) {
      const series = seriesAt(winner);
      const key = byDay ? `${day} ${identityOf(series)}` : identityOf(series);
      const known = winners.get(key);
      if (known === undefined || isBefore(winner, known)) winners.set(key, winner);
    }
  }
  const all = [...winners.values()].sort((a, b) => a.place - b.place || a.number - b.number);
  return encoded(all, request.vocabulary);
}

/** The newest row of a series, in the file at `place`. */
interface Winner {
  readonly of: NewestOf;
  readonly place: number;
  readonly number: number;
  readonly ms: number;
}

function isBefore(one: Winner, other: Winner): boolean {
  return one.ms > other.ms || (one.ms === other.ms && one.place < other.place);
}

interface Alike {
  readonly day: string;
  /** With their places among all files. */
  readonly files: (readonly [NewestOf, number])[];
}

/** Files in which each number means the same series, so that they can be compared without looking up series. */
function alike(found: readonly NewestOf[], byDay: boolean): Iterable<Alike> {
  const groups = new Map<string, Alike>();
  for (const [place, of] of found.entries()) {
    const day = byDay ? of.file.captureDay : '';
    const key = `${day} ${numberingOf(of.file.facts)}`;
    getOrInsert(groups, key, () => ({ day, files: [] })).files.push([of, place]);
  }
  return groups.values();
}

function* winnersOf(files: Alike['files']): Generator<Winner> {
  const count = files[0]?.[0].file.facts.series.length ?? 0;
  const newest = new Float64Array(count).fill(Number.NEGATIVE_INFINITY);
  const winners = new Int32Array(count).fill(-1);
  for (const [index, [{ file, numbers }]] of files.entries()) {
    const times = newestTimes(file.facts);
    for (const number of numbers) {
      const ms = times[number] as number;
      if (ms <= (newest[number] as number)) continue;
      newest[number] = ms;
      winners[number] = index;
    }
  }
  for (const [number, index] of winners.entries()) {
    const winner = files[index];
    if (winner !== undefined) yield { of: winner[0], place: winner[1], number, ms: newest[number] as number };
  }
}

/** Milliseconds in which the newest row of each series was received, by the series' number. */
const newestTimes = memoized(({ series }: FileFacts) =>
  Float64Array.from(series, ({ newest }) =>
    newest === undefined ? Number.NEGATIVE_INFINITY : millisecondsOf(newest.timeReceived),
  ),
);

function seriesAt({ of, number }: Pick<Winner, 'of' | 'number'>): SeriesFacts {
  return of.file.facts.series[number] as SeriesFacts;
}

function encoded(all: readonly Winner[], vocabulary: 'core' | 'rdk'): Batch {
  const series = all.map(seriesAt);
  const rows = series.map(({ newest }) => newest as NewestRow);
  const times = rows.map((row) => [row.timeRequested, row.timeReceived, row.timeSynced] as const);
  const words = (at: 0 | 1 | 2): Uint32Array => {
    const values = BigInt64Array.from(times, (each) => BigInt(each[at] === noTime ? 0 : millisecondsOf(each[at])));
    return new Uint32Array(values.buffer);
  };
  const columns: RowColumns = {
    rows: rows.length,
    series: Int32Array.from(rows.keys()),
    captureDay: Int32Array.from(all, ({ of }) => dayNumber(of.file.captureDay)),
    times: [words(0), words(1), words(2)],
    missingTimes: Uint8Array.from(times, (each) =>
      each.reduce((bits, time, at) => (time === noTime ? bits | (1 << at) : bits), 0),
    ),
    data: rows.map(({ data }) => data),
  };
  return rowDocuments(series, vocabulary)(columns);
}
