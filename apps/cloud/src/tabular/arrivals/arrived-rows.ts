/**
 * Rows by their arrival, for replaying the past (the dry run of triggers): a chunk of rows as typed columns, in one block of bytes, so that
 * millions of rows pass between the processes without an object for each.
 *
 * A block: length of the header (uint32, little-endian), the header (JSON), then the columns, each aligned to 8 bytes.
 */
import type { Series } from '../catalog/series.ts';

/** Which rows to read, and what of them. Plain data, because it is sent to the child process. */
export interface ArrivalsAsked {
  /** Rows at positions in (after, upTo]. */
  readonly after: number;
  readonly upTo: number;
  /** Keys of `data` from the outside in; a superset may be read. Default: none; `all`: whole documents. */
  readonly paths: readonly (readonly string[])[] | 'all';
  /** Rows that cannot meet it may be omitted; a row is read unless it is known not to meet it. */
  readonly only?: RowTest;
}

/** See `Prefilter` of @platform/conditions, which has the same form. */
export type RowTest =
  | { readonly k: 'all' | 'any'; readonly of: readonly RowTest[] }
  | {
      readonly k: 'test';
      readonly paths: readonly (readonly string[])[];
      readonly operator: 'lt' | 'lte' | 'gt' | 'gte' | 'eq' | 'is';
      readonly value?: number | string | boolean;
    }
  | { readonly k: 'unknown' };

/** The path of a row, as stored. */
export type SeriesName = Pick<Series['path'], 'component_type' | 'component_name' | 'method_name'>;

/** A field of `data`, and the columns that hold its value. */
export interface ArrivedShape {
  readonly name: string;
  /** The value of rows for which no column has one. `object`: an object with the children; `null`; `nothing`. */
  readonly otherwise: 'object' | 'null' | 'nothing';
  /** Indices of columns. Doubles, strings and booleans; NULL where the value is of another kind. */
  readonly number?: number;
  readonly text?: number;
  readonly bool?: number;
  /** The bit of `kind` of file-facts.ts; NULL: missing. */
  readonly kind?: number;
  readonly children: readonly ArrivedShape[];
}

export type ArrivedColumn =
  | { readonly k: 'number'; readonly values: Float64Array; readonly present?: Uint8Array }
  | { readonly k: 'byte'; readonly values: Uint8Array; readonly present?: Uint8Array }
  /** UTF-8 texts, or bytes, one after another. */
  | { readonly k: 'bytes'; readonly ends: Uint32Array; readonly values: Uint8Array; readonly present?: Uint8Array };

export interface ArrivedRows {
  readonly rows: number;
  readonly series: readonly SeriesName[];
  /** By row: index of its series. */
  readonly seriesOf: Int32Array;
  readonly position: Float64Array;
  /** Index of the reading in its upload. */
  readonly index: Int32Array;
  /** Wall clock, ms; NaN: missing. */
  readonly syncedMs: Float64Array;
  readonly receivedMs: Float64Array;
  /** Documents: rebuilt from columns, or BSON (the only column). Absent: they were not requested. */
  readonly data?: { readonly shape: ArrivedShape | 'bson'; readonly columns: readonly ArrivedColumn[] };
}

interface Header {
  readonly rows: number;
  readonly series: readonly SeriesName[];
  readonly shape?: ArrivedShape | 'bson';
  /** Kind, byte lengths of the ends (of texts) and the values, and whether bits of presence follow. */
  readonly columns: readonly (readonly [kind: ArrivedColumn['k'], ends: number, values: number, present: 0 | 1])[];
}

type Part = Float64Array | Int32Array | Uint32Array | Uint8Array;

export function encodeArrived(rows: ArrivedRows): Uint8Array {
  const { data } = rows;
  const header: Header = {
    rows: rows.rows,
    series: rows.series,
    ...(data && { shape: data.shape }),
    columns: (data?.columns ?? []).map((column) => [
      column.k,
      column.k === 'bytes' ? column.ends.byteLength : 0,
      column.values.byteLength,
      column.present ? 1 : 0,
    ]),
  };
  const parts: Part[] = [rows.position, rows.syncedMs, rows.receivedMs, rows.index, rows.seriesOf];
  for (const column of data?.columns ?? []) {
    if (column.k === 'bytes') parts.push(column.ends);
    parts.push(column.values);
    if (column.present) parts.push(column.present);
  }
  const head = Buffer.from(JSON.stringify(header));
  const size = parts.reduce((sum, part) => sum + aligned(part.byteLength), aligned(4 + head.length));
  const block = new Uint8Array(size);
  new DataView(block.buffer).setUint32(0, head.length, true);
  block.set(head, 4);
  let at = aligned(4 + head.length);
  for (const part of parts) {
    block.set(new Uint8Array(part.buffer, part.byteOffset, part.byteLength), at);
    at += aligned(part.byteLength);
  }
  return block;
}

/** Decodes a block; the columns are views of it. */
export function decodeArrived(given: Uint8Array): ArrivedRows {
  const block = given.byteOffset % 8 === 0 ? given : given.slice();
  const { buffer, byteOffset } = block;
  const length = new DataView(buffer, byteOffset).getUint32(0, true);
  const header = JSON.parse(Buffer.from(buffer, byteOffset + 4, length).toString()) as Header;
  let at = byteOffset + aligned(4 + length);
  const take = <P extends Part>(
    of: new (buffer: ArrayBufferLike, at: number, items: number) => P,
    items: number,
    bytes: number,
  ): P => {
    const part = new of(buffer, at, items);
    at += aligned(items * bytes);
    return part;
  };
  const { rows, series, shape } = header;
  const [position, syncedMs, receivedMs] = [0, 1, 2].map(() => take(Float64Array, rows, 8)) as [
    Float64Array,
    Float64Array,
    Float64Array,
  ];
  const [index, seriesOf] = [take(Int32Array, rows, 4), take(Int32Array, rows, 4)];
  const columns = header.columns.map(([k, ends, values, hasPresent]): ArrivedColumn => {
    const own =
      k === 'number'
        ? { k, values: take(Float64Array, values / 8, 8) }
        : k === 'byte'
          ? { k, values: take(Uint8Array, values, 1) }
          : { k, ends: take(Uint32Array, ends / 4, 4), values: take(Uint8Array, values, 1) };
    return hasPresent === 1 ? { ...own, present: take(Uint8Array, rows, 1) } : own;
  });
  return { rows, series, seriesOf, position, index, syncedMs, receivedMs, ...(shape && { data: { shape, columns } }) };
}

function aligned(bytes: number): number {
  return (bytes + 7) & ~7;
}
