/**
 * Takes the newest row of each series from the footers, for queries such as "latest reading of each component". In every group, the first
 * row by descending `time_received` is the newest row of some series of its files, or of the hot rows.
 */
import { type Batch, BsonDate, canFail, type Expr, type PlanSplit } from '@platform/query';
import { dayNumber } from '../../../../reading-codec/capture-day.ts';
import { coversSeries } from '../../../catalog/row-filter.ts';
import type { NewestRow, SeriesFacts } from '../../files/file-facts.ts';
import type { ScanRequest } from '../../messages.ts';
import { noTime } from '../../rows/row-buffer.ts';
import { type RowColumns, rowDocuments } from '../../rows/row-documents.ts';
import type { Wanted } from '../choose-pushdown.ts';
import { referencedFields } from '../conditions/referenced-fields.ts';
import type { OpenFile } from '../open-files.ts';
import { identityOf } from '../series/series-identity.ts';
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
 * Rows in the order of the files. For a series in several files only the newest row is included, the first among equally new ones, unless
 * the plan distinguishes days.
 */
export function newestRows(found: readonly NewestOf[], { split, parts }: Wanted, request: ScanRequest): Batch {
  const keys = split.end !== 'rows' && split.end.k === 'group' ? [split.end.key] : [];
  const byDay = [...keys, ...parts].some(
    (expr) => referencedFields(expr)?.some(([name]) => name === 'capture_day') ?? true,
  );
  const winners = new Map<string, { readonly ms: number; readonly of: NewestOf; readonly number: number }>();
  for (const of of found) {
    for (const number of of.numbers) {
      const series = of.file.facts.series[number] as SeriesFacts;
      const key = byDay ? `${of.file.captureDay} ${identityOf(series)}` : identityOf(series);
      const ms = receivedMs(series.newest as NewestRow);
      const known = winners.get(key);
      if (known === undefined || ms > known.ms) winners.set(key, { ms, of, number });
    }
  }
  const kept = new Map<NewestOf, number[]>(found.map((of) => [of, []]));
  for (const { of, number } of winners.values()) kept.get(of)?.push(number);
  const all = found.flatMap((of) => (kept.get(of) ?? []).sort((a, b) => a - b).map((number) => ({ of, number })));
  return encoded(all, request.vocabulary);
}

const received = new WeakMap<NewestRow, number>();

function receivedMs(row: NewestRow): number {
  let ms = received.get(row);
  if (ms === undefined) {
    ms = millisecondsOf(row.timeReceived);
    received.set(row, ms);
  }
  return ms;
}

function encoded(
  all: readonly { readonly of: NewestOf; readonly number: number }[],
  vocabulary: 'core' | 'rdk',
): Batch {
  const series = all.map(({ of, number }) => of.file.facts.series[number] as SeriesFacts);
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
