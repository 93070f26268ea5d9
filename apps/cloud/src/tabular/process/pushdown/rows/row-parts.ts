/** The parts of rows in document order, as written by write-rows.ts. */
import { getOrInsert } from '@platform/base';
import {
  BsonDocument,
  type BsonValue,
  encodeBson,
  isPathColumn,
  isTimeColumn,
  type PathColumn,
  readingColumns,
  type TimeColumn,
} from '@platform/query';
import { kind } from '../../files/file-facts.ts';
import { writeInt32 } from '../../rows/bson-bytes.ts';
import { millisecondsSql } from '../conditions/times.ts';
import type { OpenFile } from '../open-files.ts';
import type { ByteWriter } from './byte-writer.ts';
import type { Chunk } from './chunk.ts';
import type { RowCells } from './row-cells.ts';
import type { RowShape, Shape } from './row-shape.ts';

export type Part =
  /** The start of the document itself (without a head), or of an object that every row has; ends at its `close`. */
  | { readonly k: 'open'; readonly head: Uint8Array }
  | { readonly k: 'close' }
  /** A field with the same value in all rows. */
  | { readonly k: 'bytes'; readonly bytes: Uint8Array }
  /** A field that is constant within a series; no bytes where it is missing. */
  | { readonly k: 'series'; readonly bytesOf: (file: OpenFile, number: number) => Uint8Array }
  /** A field with a separate value in each row. */
  | { readonly k: 'cell'; readonly open: OpenCell };

export type WriteRow = (row: number, target: ByteWriter) => void;
type OpenWriter = (chunk: Chunk) => WriteRow;
export type OpenCell = (chunk: Chunk) => Fixed | WriteRow;

/** All rows of the chunk have the field, with a value of `size` bytes. */
export interface Fixed {
  readonly head: Uint8Array;
  readonly size: 1 | 8;
  /** The values of all rows. */
  readonly bytes: Uint8Array;
}

export const noBytes: Uint8Array = new Uint8Array();

/** Encodes a field and its value. */
export function fieldBytes(name: string, value: BsonValue): Uint8Array {
  return encodeBson(new BsonDocument([[name, value]])).subarray(4, -1);
}

/** Encodes a field's type and name. */
function headOf(type: number, name: string): Uint8Array {
  const head = fieldBytes(name, null).slice();
  head[0] = type;
  return head;
}

export function openObject(name: string): Part {
  return { k: 'open', head: headOf(0x03, name) };
}

/** A column of the row that is constant within a series, under its own or another name. */
export function columnPart(column: string, name: string = column): Part {
  if (!isPathColumn(column))
    return {
      k: 'series',
      bytesOf: ({ values }, number) => fieldBytes(name, values.fields(number, [column]).get(column) as BsonValue),
    };
  return { k: 'series', bytesOf: pathBytes(column, name) };
}

/** Cached, because thousands of series in each of many files share the texts of their paths. */
function pathBytes(column: PathColumn, name: string): (file: OpenFile, number: number) => Uint8Array {
  const known = new Map<string, Uint8Array>();
  const head = headOf(0x02, name);
  return ({ values }, number) => getOrInsert(known, values.text(number, column), (text) => textField(head, text));
}

/** Like fieldBytes for a text, in a third of the time. */
function textField(head: Uint8Array, text: string): Uint8Array {
  const size = Buffer.byteLength(text);
  const field = Buffer.allocUnsafe(head.length + size + 5);
  field.set(head);
  field.writeInt32LE(size + 1, head.length);
  field.write(text, head.length + 4);
  field[field.length - 1] = 0;
  return field;
}

export function timePart(column: TimeColumn, cells: RowCells, name: string = column): Part {
  const cell = cells.of(millisecondsSql(column));
  const [head, none] = [headOf(0x09, name), headOf(0x0a, name)];
  const open: OpenCell = (chunk) => {
    const bytes = chunk.bytes(cell, 8);
    if (isFull(chunk, cell)) return { head, size: 8, bytes };
    const present = chunk.present(cell);
    const write = writerOf({ head, size: 8, bytes });
    return (row, target) => (present(row) ? write(row, target) : target.copy(none));
  };
  return { k: 'cell', open };
}

/** The whole of `data`, as it was written. */
export function wholeDataPart(cells: RowCells, name: string): Part {
  const cell = cells.of('data');
  const head = headOf(0x03, name);
  const open: OpenCell = (chunk) => {
    const dataOf = chunk.blob(cell);
    return (row, target) => {
      target.copy(head);
      target.copy(dataOf(row));
    };
  };
  return { k: 'cell', open };
}

/** The fields of a row that the executor reads, in the order of the row. */
export function shapeParts({ names, data }: RowShape, cells: RowCells): readonly Part[] {
  return readingColumns.flatMap((column) => {
    if (!names.has(column)) return [];
    if (column === 'data') return data === undefined ? [] : valueParts(data, cells);
    return isTimeColumn(column) ? timePart(column, cells) : columnPart(column);
  });
}

export function valueParts(shape: Shape, cells: RowCells): readonly Part[] {
  const { name, kinds, writes, children } = shape;
  if (writes === 0 || kinds === kind.missing) return [];
  if (isAlwaysObject(shape))
    return [openObject(name), ...children.flatMap((child) => valueParts(child, cells)), { k: 'close' }];
  if (kinds === kind.null) return [{ k: 'bytes', bytes: headOf(0x0a, name) }];
  return [{ k: 'cell', open: valueCell(shape, cells) }];
}

function isAlwaysObject({ isAlways, kinds }: Shape): boolean {
  return isAlways || kinds === kind.object;
}

function valueCell(shape: Shape, cells: RowCells): OpenCell {
  const { name, kinds, writes, columns } = shape;
  const cellOf = (bit: number): number =>
    cells.of(bit === kind.double ? columns.number : bit === kind.string ? columns.text : columns.bool);
  const openOf = (bit: number): OpenCell => {
    switch (bit) {
      case kind.double:
        return fixedCell(headOf(0x01, name), cellOf(bit), 8);
      case kind.bool:
        return fixedCell(headOf(0x08, name), cellOf(bit), 1);
      case kind.string:
        return textCell(headOf(0x02, name), cellOf(bit));
      case kind.null: {
        const head = headOf(0x0a, name);
        return () => (_row, target) => target.copy(head);
      }
      default:
        return objectWriter(shape, cells);
    }
  };
  const written: readonly number[] = [kind.double, kind.string, kind.bool, kind.null, kind.object].filter(
    (bit) => (writes & bit) !== 0,
  );
  if ((kinds & (kinds - 1)) === 0) return openOf(kinds);
  if (columns.kind !== undefined) {
    const cell = cells.of(columns.kind);
    const openers = written.map((bit) => [bit, openOf(bit)] as const);
    return (chunk) => {
      const [present, bits] = [chunk.present(cell), chunk.bytes(cell)];
      const writers = new Map(openers.map(([bit, open]) => [bit, asWriter(open(chunk))]));
      return (row, target) => {
        if (present(row)) writers.get(bits[row] as number)?.(row, target);
      };
    };
  }
  // Only doubles, texts and booleans, or missing: the kind is that of the column with a value.
  const tests = written.map((bit) => [cellOf(bit), openOf(bit)] as const);
  return (chunk) => {
    const full = tests.find(([cell]) => isFull(chunk, cell));
    if (full !== undefined) return full[1](chunk);
    const writers = tests.map(([cell, open]) => [chunk.present(cell), asWriter(open(chunk))] as const);
    return (row, target) => {
      for (const [present, write] of writers) {
        if (!present(row)) continue;
        write(row, target);
        return;
      }
    };
  };
}

/** Whether no row of a column is NULL. */
function isFull(chunk: Chunk, cell: number): boolean {
  const present = chunk.present(cell);
  for (let row = 0; row < chunk.rows; row++) if (!present(row)) return false;
  return true;
}

function fixedCell(head: Uint8Array, cell: number, size: 1 | 8): OpenCell {
  return (chunk) => ({ head, size, bytes: chunk.bytes(cell, size) });
}

function textCell(head: Uint8Array, cell: number): OpenCell {
  return (chunk) => {
    const textOf = chunk.blob(cell);
    return (row, target) => {
      const text = textOf(row);
      target.copy(head);
      target.room(text.length + 16);
      writeInt32(target.bytes, target.at, text.length + 1);
      target.bytes.set(text, target.at + 4);
      target.at += text.length + 4;
      target.bytes[target.at++] = 0;
    };
  };
}

function asWriter(opened: Fixed | WriteRow): WriteRow {
  return typeof opened === 'function' ? opened : writerOf(opened);
}

function writerOf({ head, size, bytes }: Fixed): WriteRow {
  return (row, target) => {
    target.copy(head);
    target.item(bytes, row * size, size, target.at);
    target.at += size;
  };
}

function valueWriter(shape: Shape, cells: RowCells): OpenWriter {
  if (shape.writes === 0 || shape.kinds === kind.missing) return () => () => {};
  if (isAlwaysObject(shape)) return objectWriter(shape, cells);
  const open = valueCell(shape, cells);
  return (chunk) => asWriter(open(chunk));
}

function objectWriter({ name, children }: Shape, cells: RowCells): OpenWriter {
  const head = headOf(0x03, name);
  const openers = children.map((child) => valueWriter(child, cells));
  return (chunk) => {
    const writers = openers.map((open) => open(chunk));
    return (row, target) => {
      target.copy(head);
      const start = target.at;
      target.at += 4;
      for (const write of writers) write(row, target);
      target.room(8);
      target.bytes[target.at++] = 0;
      writeInt32(target.bytes, start, target.at - start);
    };
  };
}
