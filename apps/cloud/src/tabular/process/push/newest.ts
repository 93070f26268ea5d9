/**
 * The newest row of each series, out of the footers: what "latest reading of each component" needs of a file. Whatever the group, its
 * first row by `time_received` descending is the newest one of some series of its files, or of the hot rows.
 */
import { type Batch, BsonDate, type Cut, type Expr } from '@platform/query';
import { coversSeries } from '../../row-filter.ts';
import { dayNumber } from '../capture-day.ts';
import type { NewestRow, SeriesFacts } from '../file-facts.ts';
import type { ScanRequest } from '../messages.ts';
import { noTime } from '../row-buffer.ts';
import { type RowColumns, rowDocuments } from '../row-documents.ts';
import type { Wanted } from './choose.ts';
import { millisecondsOf } from './group-states.ts';
import type { OpenFile } from './open-files.ts';
import { isOfSeries } from './series-values.ts';

/** Whether of each series only the newest row can make a difference. */
export function needsNewest({ cut, parts, sure }: Wanted, { filter }: ScanRequest): boolean {
  if (sure < parts.length || !endsInNewest(cut)) return false;
  if (filter.times.time_requested !== undefined || filter.times.time_synced !== undefined) return false;
  if (filter.times.time_received?.toMs !== undefined) return false;
  return parts.every((part) => isOfSeries(part) || isReceivedSince(part));
}

function endsInNewest({ end }: Cut): boolean {
  if (end === 'rows') return false;
  const isNewest = (by: readonly { path: readonly string[]; descending: boolean }[] | undefined): boolean =>
    by?.length === 1 && by[0]?.descending === true && by[0].path.join('.') === 'time_received';
  if (end.k === 'sort') return end.top === 1 && isNewest(end.by);
  return isOfSeries(end.key) && end.into.length > 0 && end.into.every(([, { fn, by }]) => fn === 'top' && isNewest(by));
}

/** What the newest row does not pass, no older one does. */
function isReceivedSince(part: Expr): boolean {
  if (part.k !== 'call') return false;
  const [left, right] = part.args;
  const isTime = left?.k === 'field' && left.path.join('.') === 'time_received';
  return /^(match|agg|sql)\.gte?$/.test(part.fn) && isTime && right?.k === 'lit' && right.value instanceof BsonDate;
}

/** A row of each wanted series, in the order of the file; undefined when the footer does not have them. */
export function newestRows(file: OpenFile, { parts }: Wanted, request: ScanRequest): Batch | undefined {
  let numbers = file.wanted;
  for (const part of parts) {
    if (!isOfSeries(part)) continue;
    const keeps = file.values.keeps(part);
    if (keeps === undefined) return undefined;
    numbers = numbers.filter((number) => keeps[number]);
  }
  const rows: NewestRow[] = [];
  for (const number of numbers) {
    const series = file.facts.series[number] as SeriesFacts;
    const isDeleted = request.deletes.some(({ predicate }) => coversSeries(series, predicate, file.captureDay));
    if (isDeleted || series.newest === undefined) return undefined;
    rows.push(series.newest);
  }
  const times = rows.map((row) => [row.timeRequested, row.timeReceived, row.timeSynced] as const);
  const words = (at: 0 | 1 | 2): Uint32Array => {
    const values = BigInt64Array.from(times, (each) => BigInt(each[at] === noTime ? 0 : millisecondsOf(each[at])));
    return new Uint32Array(values.buffer);
  };
  const columns: RowColumns = {
    rows: rows.length,
    series: Int32Array.from(numbers),
    captureDay: new Int32Array(rows.length).fill(dayNumber(file.captureDay)),
    times: [words(0), words(1), words(2)],
    missingTimes: Uint8Array.from(times, (each) =>
      each.reduce((bits, time, at) => (time === noTime ? bits | (1 << at) : bits), 0),
    ),
    data: rows.map(({ data }) => data),
  };
  return rowDocuments(file.facts.series, request.vocabulary)(columns);
}
