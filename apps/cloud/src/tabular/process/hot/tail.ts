/**
 * The newest rows: decoded, but not yet in a hot file. Queries read them as documents.
 *
 * States: open (the loader adds rows) → frozen (being written to a hot file) → removed. All rows of a position are in one tail or none.
 */
import { getOrInsert } from '@platform/base';
import { type Batch, timeColumns } from '@platform/query';
import { dayNumber } from '../../../reading-codec/capture-day.ts';
import { coversSeries, isInScope, mayKeepSeries } from '../../catalog/row-filter.ts';
import type { Series } from '../../catalog/series.ts';
import type { TabularSettings } from '../../settings.ts';
import type { ScanRequest } from '../messages.ts';
import { identityOf } from '../pushdown/series/series-identity.ts';
import { noTime, RowBuffer } from '../rows/row-buffer.ts';
import { documentOverheadBytes, rowDocuments } from '../rows/row-documents.ts';
import { startOfMs } from './series-facts.ts';
import { words } from './sort-rows.ts';

export interface Tail {
  /** Its rows are at positions in (from, to]. */
  from: number;
  to: number;
  readonly rows: RowBuffer;
  readonly series: Series[];
  /** Monotonic ms at which the first position was added; undefined: none yet. */
  filledSinceMs: number | undefined;
  /** Unreadable readings were skipped. */
  damaged: boolean;
  /** The log row at `to`, as read. */
  lastBatch: Uint8Array | undefined;
  /** Number of a series; equal series share one. */
  seriesId(series: Series): number;
}

export function createTail(from: number): Tail {
  const ids = new Map<string, number>();
  const series: Series[] = [];
  return {
    from,
    to: from,
    rows: new RowBuffer(),
    series,
    filledSinceMs: undefined,
    damaged: false,
    lastBatch: undefined,
    seriesId(given) {
      return getOrInsert(ids, identityOf(given), () => series.push(given) - 1);
    },
  };
}

export type TailLimits = Pick<TabularSettings, 'hotFileRows' | 'hotFileBytes'>;

export function isTailFull({ rows }: Tail, { hotFileRows, hotFileBytes }: TailLimits): boolean {
  return rows.rows >= hotFileRows || rows.dataBytes >= hotFileBytes;
}

/** The rows of a tail that a query may need, and their metered bytes. */
export interface TailRows {
  readonly tail: Tail;
  /** Their numbers in the tail, ascending. */
  readonly rows: readonly number[];
  /** Logical bytes, metered like sealed rows (D26). */
  readonly meteredBytes: number;
  /** In order of arrival; each batch takes a few MB at most. */
  batches(columns: ReadonlySet<string> | undefined): Generator<Batch>;
}

const batchLimit = { rows: 2_048, bytes: 4 << 20 };

export function tailRows(tail: Tail, request: ScanRequest): TailRows {
  const { rows, series } = tail;
  const { after, upTo } = request;
  const keeps = rowTests(tail, request);
  const wanted: number[] = [];
  let meteredBytes = 0;
  const overheads: number[] = [];
  if (keeps !== undefined && tail.to > after) {
    const isWhole = tail.from >= after && tail.to <= upTo;
    const [first, last] = [BigInt(after), BigInt(upTo)];
    for (let row = 0; row < rows.rows; row++) {
      if (!isWhole) {
        const position = rows.position[row] as bigint;
        if (position <= first || position > last) continue;
      }
      if (!keeps(row)) continue;
      wanted.push(row);
      const number = rows.series[row] as number;
      overheads[number] ??= documentOverheadBytes(series[number] as Series);
      meteredBytes += (rows.data[row] as Uint8Array).length + overheads[number];
    }
  }
  return {
    tail,
    rows: wanted,
    meteredBytes,
    *batches(columns) {
      const encode = rowDocuments(series, request.vocabulary, columns, request.exactTimes);
      for (let at = 0; at < wanted.length; ) {
        const from = at;
        for (
          let bytes = 0;
          at < wanted.length && at - from < batchLimit.rows && (at === from || bytes < batchLimit.bytes);
          at++
        )
          bytes += (rows.data[wanted[at] as number] as Uint8Array).length;
        yield encode(columnsOf(rows, wanted.slice(from, at), columns, request.exactTimes === true));
      }
    },
  };
}

/** Undefined when no row passes. Scope and deletions are exact; path and times are a superset, as everywhere. */
function rowTests({ rows, series }: Tail, request: ScanRequest): ((row: number) => boolean) | undefined {
  const { scope, filter, deletes } = request;
  const mayKeep = series.map(({ path }) => isInScope(path, scope) && mayKeepSeries(path, filter));
  if (!mayKeep.includes(true)) return undefined;
  const times = { time_requested: rows.timeRequested, time_received: rows.timeReceived, time_synced: rows.timeSynced };
  const bounds = timeColumns.flatMap((column) => {
    const found = filter.times[column];
    if (found === undefined) return [];
    return [{ values: times[column], from: found.from, to: found.to }];
  });
  const deletions = deletes.map(({ predicate, upTo }) => ({
    covers: series.map((each) => coversSeries(each, predicate)),
    upTo: BigInt(upTo),
    beforeDay: predicate.beforeDay === undefined ? undefined : dayNumber(predicate.beforeDay),
    receivedBefore: predicate.receivedBefore === undefined ? undefined : BigInt(predicate.receivedBefore),
  }));
  return (row) => {
    const number = rows.series[row] as number;
    if (!mayKeep[number]) return false;
    for (const { values, from, to } of bounds) {
      const time = values[row] as bigint;
      // Without a lower bound, a missing time (the least of all) is kept: some comparisons treat it as less than any time.
      if ((from !== undefined && time < from) || (to !== undefined && time > to)) return false;
    }
    for (const { covers, upTo, beforeDay, receivedBefore } of deletions) {
      if (!covers[number] || (rows.position[row] as bigint) > upTo) continue;
      if (beforeDay !== undefined && (rows.captureDay[row] as number) >= beforeDay) continue;
      if (receivedBefore !== undefined && (rows.timeReceived[row] as bigint) >= receivedBefore) continue;
      return false;
    }
    return true;
  };
}

function columnsOf(
  rows: RowBuffer,
  wanted: readonly number[],
  columns: ReadonlySet<string> | undefined,
  exactTimes: boolean,
): Parameters<ReturnType<typeof rowDocuments>>[0] {
  const missingTimes = new Uint8Array(wanted.length);
  const sources = {
    time_requested: rows.timeRequested,
    time_received: rows.timeReceived,
    time_synced: rows.timeSynced,
  };
  const times = timeColumns.map((column, i) => {
    if (columns?.has(column) === false) return noWords;
    return timeWords(sources[column], wanted, exactTimes, (at) => {
      (missingTimes[at] as number) |= 1 << i;
    });
  });
  return {
    rows: wanted.length,
    series: Int32Array.from(wanted, (row) => rows.series[row] as number),
    captureDay: Int32Array.from(wanted, (row) => rows.captureDay[row] as number),
    times: times as [Uint32Array, Uint32Array, Uint32Array],
    missingTimes,
    data: wanted.map((row) => rows.data[row] as Uint8Array),
  };
}

const noWords = /* @__PURE__ */ new Uint32Array();

/**
 * Int64 of each wanted row, low word first: milliseconds, or microseconds if `exact`.
 * @param onMissing called with the place of a row without the time
 */
function timeWords(
  source: BigInt64Array,
  wanted: readonly number[],
  exact: boolean,
  onMissing: (at: number) => void,
): Uint32Array {
  const pairs = words(source);
  const target = new Uint32Array(wanted.length * 2);
  for (let at = 0; at < wanted.length; at++) {
    const row = wanted[at] as number;
    const [low, high] = [(pairs[row * 2] as number) >>> 0, pairs[row * 2 + 1] as number];
    if (low === missingLow && high === missingHigh) {
      onMissing(at);
      continue;
    }
    if (exact) {
      target[at * 2] = low;
      target[at * 2 + 1] = high;
      continue;
    }
    const microseconds = high * 2 ** 32 + low;
    // Numbers are several times faster than BigInts, and exact until the year 2255.
    const ms = Number.isSafeInteger(microseconds)
      ? Math.floor(microseconds / 1_000)
      : Number(startOfMs(source[row] as bigint) / 1_000n);
    target[at * 2] = ms;
    target[at * 2 + 1] = Math.floor(ms / 2 ** 32);
  }
  return target;
}

const missingLow = Number(BigInt.asUintN(32, noTime));
const missingHigh = Number(BigInt.asIntN(32, noTime >> 32n));
