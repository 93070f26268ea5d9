/**
 * Rows as BSON documents in the order of D25. Everything before `data`, except three times, is the same for all rows of a series and day,
 * so it is encoded once and copied.
 */
import {
  type Batch,
  BsonDocument,
  decodeBson,
  encodeBson,
  type PathColumn,
  pathColumns,
  readingColumns,
  timeColumns,
} from '@platform/query';
import { dayText } from '../../../reading-codec/capture-day.ts';
import type { Series } from '../../catalog/series.ts';
import { writeInt32 } from './bson-bytes.ts';

interface Head {
  /** The document up to its field `data`; the value of `data` follows. */
  readonly bytes: Uint8Array;
  /** Offsets of the three times; -1: null. */
  readonly times: readonly [number, number, number];
}

/** Columns of rows as DuckDB returns them. Times are int64 as pairs of 32-bit words: milliseconds, or microseconds for exact times. */
export interface RowColumns {
  readonly rows: number;
  readonly series: Int32Array;
  /** Days since 1970. */
  readonly captureDay: Int32Array;
  readonly times: readonly [Uint32Array, Uint32Array, Uint32Array];
  /** Bit i: time i is missing. */
  readonly missingTimes: Uint8Array;
  readonly data: readonly Uint8Array[];
}

/**
 * Returns a function that converts columns to a batch, for rows numbered by these series.
 * @param wanted columns of the documents besides `data`, which is always included; default: all
 * @param exactTimes times in the documents are int64 microseconds, not dates
 */
export function rowDocuments(
  series: readonly Series[],
  vocabulary: 'core' | 'rdk',
  wanted: ReadonlySet<string> = allColumns,
  exactTimes = false,
): (columns: RowColumns) => Batch {
  const heads = new Map<number, Head>();
  const headOf = (number: number, day: number, missing: number): Head => {
    const key = (day * series.length + number) * 8 + missing;
    let head = heads.get(key);
    if (head === undefined) {
      head = encodeHead(series[number] as Series, day, missing, vocabulary, wanted, exactTimes);
      heads.set(key, head);
    }
    return head;
  };
  return ({ rows, series: numbers, captureDay, times, missingTimes, data }) => {
    const used: Head[] = [];
    let length = 0;
    for (let row = 0; row < rows; row++) {
      const head = headOf(numbers[row] as number, captureDay[row] as number, missingTimes[row] as number);
      used.push(head);
      length += head.bytes.length + (data[row] as Uint8Array).length + 1;
    }
    const bytes = new Uint8Array(length);
    const ends = new Uint32Array(rows);
    let at = 0;
    for (let row = 0; row < rows; row++) {
      const head = used[row] as Head;
      const document = data[row] as Uint8Array;
      const size = head.bytes.length + document.length + 1;
      bytes.set(head.bytes, at);
      for (let i = 0; i < 3; i++) {
        const offset = head.times[i] as number;
        if (offset < 0) continue;
        const words = times[i] as Uint32Array;
        writeInt32(bytes, at + offset, words[row * 2] as number);
        writeInt32(bytes, at + offset + 4, words[row * 2 + 1] as number);
      }
      writeInt32(bytes, at, size);
      bytes.set(document, at + head.bytes.length);
      at += size;
      ends[row] = at;
    }
    return { count: rows, bytes, ends };
  };
}

/** BSON bytes of a row's document without `data`, with all times present. Equal in both vocabularies, so that metering is, too. */
export function documentOverheadBytes(series: Series): number {
  return encodeHead(series, 0, 0, 'core', allColumns).bytes.length + 1;
}

/** The fields shared by all rows of a series and day. */
export function seriesDocument(series: Series, captureDay: string, vocabulary: 'core' | 'rdk'): BsonDocument {
  const document = pathDocument(series, captureDay, vocabulary);
  document.set('tags', [...series.tags]);
  document.set('additional_parameters', decodeBson(series.additionalParameters));
  return document;
}

/** @param columns path columns in path order; default: all */
export function pathDocument(
  series: Series,
  captureDay: string,
  vocabulary: 'core' | 'rdk',
  columns: readonly PathColumn[] = pathColumns,
): BsonDocument {
  const document = new BsonDocument();
  for (const column of columns) document.set(column, pathText(series, captureDay, vocabulary, column));
  return document;
}

export function pathText({ path }: Series, captureDay: string, vocabulary: 'core' | 'rdk', column: PathColumn): string {
  if (column === 'capture_day') return captureDay;
  return column === 'component_type' ? spelled(path[column], vocabulary) : path[column];
}

function encodeHead(
  series: Series,
  day: number,
  missing: number,
  vocabulary: 'core' | 'rdk',
  wanted: ReadonlySet<string>,
  exactTimes = false,
): Head {
  const columns = pathColumns.filter((column) => wanted.has(column));
  const path = encodeBson(pathDocument(series, dayText(day), vocabulary, columns));
  const parts: Uint8Array[] = [path.subarray(0, -1)];
  let length = path.length - 1;
  const offsets: number[] = [];
  for (const [i, name] of timeColumns.entries()) {
    const isMissing = (missing & (1 << i)) !== 0;
    const isThere = wanted.has(name);
    offsets.push(isMissing || !isThere ? -1 : length + name.length + 2);
    if (!isThere) continue;
    const field = (isMissing ? noTimeFields : exactTimes ? exactTimeFields : timeFields)[i] as Uint8Array;
    parts.push(field);
    length += field.length;
  }
  if (wanted.has('tags')) parts.push(encodeBson(new BsonDocument([['tags', [...series.tags]]])).subarray(4, -1));
  if (wanted.has('additional_parameters')) parts.push(parametersField, series.additionalParameters);
  const bytes = Buffer.concat([...parts, dataField]);
  return {
    bytes: new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length),
    times: offsets as [number, number, number],
  };
}

const allColumns: ReadonlySet<string> = /* @__PURE__ */ new Set(readingColumns);
const encoder = /* @__PURE__ */ new TextEncoder();
const parametersField = /* @__PURE__ */ encoder.encode('\u0003additional_parameters\0');
const dataField = /* @__PURE__ */ encoder.encode('\u0003data\0');
const timeFields = /* @__PURE__ */ timeColumns.map((name) => encoder.encode(`\u0009${name}\0${'\0'.repeat(8)}`));
const exactTimeFields = /* @__PURE__ */ timeColumns.map((name) => encoder.encode(`\u0012${name}\0${'\0'.repeat(8)}`));
const noTimeFields = /* @__PURE__ */ timeColumns.map((name) => encoder.encode(`\u000a${name}\0`));

/** Same as apiIn of @platform/rpc, which this process does not load. */
function spelled(api: string, vocabulary: 'core' | 'rdk'): string {
  return api.replace(/^core(?=:)/, vocabulary);
}
