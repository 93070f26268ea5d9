/**
 * Facts of series by column, as stored in a footer's JSON. Most series of a file share most of their path, and the time to read a thousand
 * footers grows with the number of values in them.
 */
import { getOrInsert } from '@platform/base';
import { type SeriesColumn, seriesColumns } from '@platform/query';
import type { NewestRow, SeriesFacts, TimeFacts } from './file-facts.ts';

/** Distinct values of all series. `of` maps each series to its value; it is absent when all share one. */
interface Column<T> {
  readonly values: readonly T[];
  readonly of?: readonly number[];
}

/** A number if it is exact. */
type Time = number | string | null;

interface StoredTimes {
  readonly min: readonly Time[];
  readonly max: readonly Time[];
  readonly missing: readonly number[];
}

export interface StoredSeries {
  readonly path: Readonly<Record<SeriesColumn, Column<string>>>;
  readonly tags: Column<readonly string[]>;
  /** Base64. */
  readonly additionalParameters: Column<string>;
  readonly rows: readonly number[];
  readonly dataBytes: readonly number[];
  readonly received: StoredTimes;
  readonly requested: StoredTimes;
  readonly synced: StoredTimes;
  /** By column, for the series that have a newest row. */
  readonly newest: {
    readonly series: readonly number[];
    readonly position: readonly number[];
    readonly index: readonly number[];
    readonly requested: readonly Time[];
    readonly received: readonly Time[];
    readonly synced: readonly Time[];
    /** End offset of each document in `data`. */
    readonly ends: readonly number[];
    /** Base64 of all documents. */
    readonly data: string;
  };
}

export function storeSeries(series: readonly SeriesFacts[]): StoredSeries {
  const path = Object.fromEntries(
    seriesColumns.map((column) => [column, columnOf(series, (each) => each.path[column], identity)]),
  ) as Record<SeriesColumn, Column<string>>;
  const newest = series.flatMap((each, number) => (each.newest === undefined ? [] : [{ number, row: each.newest }]));
  let end = 0;
  return {
    path,
    tags: columnOf(series, ({ tags }) => tags, JSON.stringify),
    additionalParameters: columnOf(
      series,
      (each) => Buffer.from(each.additionalParameters).toString('base64'),
      identity,
    ),
    rows: series.map(({ rows }) => rows),
    dataBytes: series.map(({ dataBytes }) => dataBytes),
    received: storeTimes(series.map(({ received }) => received)),
    requested: storeTimes(series.map(({ requested }) => requested)),
    synced: storeTimes(series.map(({ synced }) => synced)),
    newest: {
      series: newest.map(({ number }) => number),
      position: newest.map(({ row }) => row.position),
      index: newest.map(({ row }) => row.index),
      requested: newest.map(({ row }) => storeTime(row.timeRequested)),
      received: newest.map(({ row }) => storeTime(row.timeReceived)),
      synced: newest.map(({ row }) => storeTime(row.timeSynced)),
      ends: newest.map(({ row }) => {
        end += row.data.length;
        return end;
      }),
      data: Buffer.concat(newest.map(({ row }) => row.data)).toString('base64'),
    },
  };
}

export function loadSeries(stored: StoredSeries): SeriesFacts[] {
  const newest = loadNewest(stored.newest);
  const parameters = {
    ...stored.additionalParameters,
    values: stored.additionalParameters.values.map((text) => new Uint8Array(Buffer.from(text, 'base64'))),
  };
  let firstRow = 0;
  return stored.rows.map((rows, number) => {
    const path = Object.fromEntries(seriesColumns.map((column) => [column, at(stored.path[column], number)]));
    const newestRow = newest.get(number);
    const facts: SeriesFacts = {
      path: path as SeriesFacts['path'],
      tags: at(stored.tags, number),
      additionalParameters: at(parameters, number),
      rows,
      dataBytes: stored.dataBytes[number] as number,
      firstRow,
      received: loadTimes(stored.received, number),
      requested: loadTimes(stored.requested, number),
      synced: loadTimes(stored.synced, number),
      ...(newestRow && { newest: newestRow }),
    };
    firstRow += rows;
    return facts;
  });
}

function loadNewest(stored: StoredSeries['newest']): Map<number, NewestRow> {
  const data = new Uint8Array(Buffer.from(stored.data, 'base64'));
  const time = (value: Time | undefined): bigint => loadTime(value ?? null) as bigint;
  return new Map(
    stored.series.map((number, i) => [
      number,
      {
        position: stored.position[i] as number,
        index: stored.index[i] as number,
        timeRequested: time(stored.requested[i]),
        timeReceived: time(stored.received[i]),
        timeSynced: time(stored.synced[i]),
        data: data.subarray(stored.ends[i - 1] ?? 0, stored.ends[i]),
      },
    ]),
  );
}

const identity = (text: string): string => text;

function columnOf<T>(
  series: readonly SeriesFacts[],
  inOne: (each: SeriesFacts) => T,
  keyOf: (value: T) => string,
): Column<T> {
  const places = new Map<string, number>();
  const values: T[] = [];
  const of = series.map((each) => {
    const value = inOne(each);
    return getOrInsert(places, keyOf(value), () => values.push(value) - 1);
  });
  return values.length === 1 ? { values } : { values, of };
}

function at<T>({ values, of }: Column<T>, number: number): T {
  return values[of === undefined ? 0 : (of[number] as number)] as T;
}

function storeTimes(times: readonly TimeFacts[]): StoredTimes {
  return {
    min: times.map(({ min }) => storeTime(min)),
    max: times.map(({ max }) => storeTime(max)),
    missing: times.map(({ missing }) => missing),
  };
}

function loadTimes({ min, max, missing }: StoredTimes, number: number): TimeFacts {
  return {
    min: loadTime(min[number] as Time),
    max: loadTime(max[number] as Time),
    missing: missing[number] as number,
  };
}

function storeTime(time: bigint | null): Time {
  if (time === null) return null;
  const number = Number(time);
  return Number.isSafeInteger(number) ? number : String(time);
}

function loadTime(time: Time): bigint | null {
  return time === null ? null : BigInt(time);
}
