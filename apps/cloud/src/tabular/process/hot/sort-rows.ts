/** Sorts the rows of a buffer in file order: by organization, day, part, type, component, method, series, then time, then arrival. */
import type { Series } from '../../catalog/series.ts';
import type { RowBuffer } from '../rows/row-buffer.ts';

export interface SortedRows {
  /** Row of the buffer at each place in the file. */
  readonly order: Int32Array;
  /** By series number of the file. */
  readonly series: readonly SortedSeries[];
}

export interface SortedSeries {
  readonly series: Series;
  /** Days since 1970. */
  readonly day: number;
  /** Places of its rows: from `from` to before `to`. */
  readonly from: number;
  readonly to: number;
}

interface Pair {
  readonly series: Series;
  readonly day: number;
  readonly sortKey: string;
  rows: number;
}

export function sortRows(rows: RowBuffer, series: readonly Series[]): SortedRows {
  const pairOf = new Int32Array(rows.rows);
  const pairs = pairsOf(rows, series, pairOf);
  const sorted = [...pairs.keys()].sort((a, b) => {
    const [left, right] = [(pairs[a] as Pair).sortKey, (pairs[b] as Pair).sortKey];
    return left < right ? -1 : left > right ? 1 : a - b;
  });
  const next = new Int32Array(pairs.length);
  const answered: SortedSeries[] = [];
  let place = 0;
  for (const number of sorted) {
    const { series: own, day, rows: count } = pairs[number] as Pair;
    next[number] = place;
    answered.push({ series: own, day, from: place, to: place + count });
    place += count;
  }
  const order = new Int32Array(rows.rows);
  for (let row = 0; row < rows.rows; row++) {
    const pair = pairOf[row] as number;
    const at = next[pair] as number;
    order[at] = row;
    next[pair] = at + 1;
  }
  const received = words(rows.timeReceived);
  for (const { from, to } of answered) {
    const places = order.subarray(from, to);
    // Rows mostly arrive in the order of their times.
    if (!isRising(received, places)) places.sort((a, b) => compareWords(received, a, b) || a - b);
  }
  return { order, series: answered };
}

function pairsOf(rows: RowBuffer, series: readonly Series[], pairOf: Int32Array): Pair[] {
  const pairs: Pair[] = [];
  const byDay = new Map<number, Map<number, number>>();
  for (let row = 0; row < rows.rows; row++) {
    const [number, day] = [rows.series[row] as number, rows.captureDay[row] as number];
    let ofDay = byDay.get(day);
    if (ofDay === undefined) {
      ofDay = new Map();
      byDay.set(day, ofDay);
    }
    let pair = ofDay.get(number);
    if (pair === undefined) {
      const own = series[number] as Series;
      pair = pairs.push({ series: own, day, sortKey: sortKeyOf(own, day), rows: 0 }) - 1;
      ofDay.set(number, pair);
    }
    (pairs[pair] as Pair).rows++;
    pairOf[row] = pair;
  }
  return pairs;
}

function sortKeyOf({ path }: Series, day: number): string {
  return [path.organization_id, String(day).padStart(8), seriesSortKey({ path })].join('\0');
}

/** Orders the series of an organization and day. */
export function seriesSortKey({ path }: Pick<Series, 'path'>): string {
  return [path.part_id, path.component_type, path.component_name, path.method_name].join('\0');
}

/** 64-bit integers as pairs of 32-bit words, which can be compared without BigInt. */
export function words(values: BigInt64Array): Int32Array {
  return new Int32Array(values.buffer, values.byteOffset, values.length * 2);
}

/** Compares two values as 64-bit integers. */
export function compareWords(values: Int32Array, a: number, b: number): number {
  const high = (values[a * 2 + 1] as number) - (values[b * 2 + 1] as number);
  return high !== 0 ? high : ((values[a * 2] as number) >>> 0) - ((values[b * 2] as number) >>> 0);
}

function isRising(times: Int32Array, places: Int32Array): boolean {
  for (let i = 1; i < places.length; i++)
    if (compareWords(times, places[i - 1] as number, places[i] as number) > 0) return false;
  return true;
}
