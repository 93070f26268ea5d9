/** Rows as BSON documents out of columns: what is the same for a series is encoded once, the rest is written in place. */
import { type Batch, encodeBson, readingColumns, timeColumns } from '@platform/query';
import { writeInt32 } from '../bson-bytes.ts';
import { kind } from '../file-facts.ts';
import { checkScope } from './check-scope.ts';
import type { Chunk } from './chunk.ts';
import type { OpenFile } from './open-files.ts';
import type { RowShape, Shape } from './row-shape.ts';
import { fileMarker } from './statement.ts';

/** Where in the answer the columns stand. */
export class RowCells {
  readonly sql: string[] = [fileMarker, 'series'];

  of(sql: string | undefined): number {
    if (sql === undefined) return -1;
    const known = this.sql.indexOf(sql);
    return known >= 0 ? known : this.sql.push(sql) - 1;
  }
}

/** Milliseconds of a column of microseconds, rounded down; NULL stays NULL. */
export function millisecondsSql(column: string): string {
  return `(${column} // 1000 - CASE WHEN ${column} % 1000 < 0 THEN 1 ELSE 0 END)`;
}

class Target {
  bytes = new Uint8Array(64 * 1024);
  at = 0;

  room(size: number): void {
    if (this.at + size <= this.bytes.length) return;
    const grown = new Uint8Array(Math.max(this.bytes.length * 2, this.at + size));
    grown.set(this.bytes.subarray(0, this.at));
    this.bytes = grown;
  }

  copy(bytes: Uint8Array): void {
    this.room(bytes.length + 32);
    this.bytes.set(bytes, this.at);
    this.at += bytes.length;
  }
}

type WriteRow = (row: number, target: Target) => void;
type OpenChunk = (chunk: Chunk) => WriteRow;

/** @param cells gets the columns that are needed; the answer reads a chunk of them. */
export function rowWriter(shape: RowShape, cells: RowCells): (files: readonly OpenFile[]) => (chunk: Chunk) => Batch {
  const parts: (OpenChunk | string[])[] = [];
  for (const column of readingColumns) {
    if (!shape.names.has(column)) continue;
    const time = timeColumns.find((name) => name === column);
    if (column === 'data') {
      if (shape.data !== undefined) parts.push(valueWriter(shape.data, cells));
    } else if (time !== undefined) parts.push(timeWriter(time, cells));
    else {
      const last = parts.at(-1);
      if (Array.isArray(last)) last.push(column);
      else parts.push([column]);
    }
  }
  return (files) => {
    const openers = parts.map((part): OpenChunk => (Array.isArray(part) ? constantWriter(part, files) : part));
    const target = new Target();
    return (chunk) => {
      checkScope(chunk, files);
      const writers = openers.map((open) => open(chunk));
      target.at = 0;
      const ends = new Uint32Array(chunk.rows);
      for (let row = 0; row < chunk.rows; row++) {
        const start = target.at;
        target.room(8);
        target.at += 4;
        for (const write of writers) write(row, target);
        target.room(8);
        target.bytes[target.at++] = 0;
        writeInt32(target.bytes, start, target.at - start);
        ends[row] = target.at;
      }
      return { count: chunk.rows, bytes: target.bytes.slice(0, target.at), ends };
    };
  };
}

/** Fields that are the same for all rows of a series, next to each other. */
function constantWriter(names: readonly string[], files: readonly OpenFile[]): OpenChunk {
  const encoded = files.map((): Uint8Array[] => []);
  const bytesOf = (file: number, number: number): Uint8Array => {
    const known = (encoded[file] as Uint8Array[])[number];
    if (known !== undefined) return known;
    const bytes = encodeBson((files[file] as OpenFile).values.fields(number, names)).subarray(4, -1);
    (encoded[file] as Uint8Array[])[number] = bytes;
    return bytes;
  };
  return (chunk) => {
    const [file, series] = [chunk.int32(0), chunk.int32(1)];
    return (row, target) => target.copy(bytesOf(file[row] as number, series[row] as number));
  };
}

const encoder = /* @__PURE__ */ new TextEncoder();

/** A field's type and name. */
function headOf(type: number, name: string): Uint8Array {
  const text = encoder.encode(name);
  const head = new Uint8Array(text.length + 2);
  head[0] = type;
  head.set(text, 1);
  return head;
}

function timeWriter(column: string, cells: RowCells): OpenChunk {
  const cell = cells.of(millisecondsSql(column));
  const [date, none] = [headOf(0x09, column), headOf(0x0a, column)];
  return (chunk) => {
    const [present, bytes] = [chunk.present(cell), chunk.bytes(cell, 8)];
    return (row, target) => {
      if (!present(row)) return target.copy(none);
      target.copy(date);
      for (let i = 0; i < 8; i++) target.bytes[target.at + i] = bytes[row * 8 + i] as number;
      target.at += 8;
    };
  };
}

function valueWriter(shape: Shape, cells: RowCells): OpenChunk {
  const writers: readonly (readonly [number, OpenChunk])[] = [
    [kind.double, numberWriter(shape, cells)],
    [kind.string, textWriter(shape, cells)],
    [kind.bool, boolWriter(shape, cells)],
    [kind.null, nullWriter(shape)],
    [kind.object, objectWriter(shape, cells)],
    [kind.missing, () => () => {}],
  ];
  const open = (bit: number): OpenChunk => writers.find(([each]) => each === bit)?.[1] as OpenChunk;
  if (shape.isAlways) return open(kind.object);
  const { kinds, columns } = shape;
  if ((kinds & (kinds - 1)) === 0) return open(kinds);
  const occurring = writers.filter(([bit]) => (kinds & bit) !== 0);
  if (columns.kind !== undefined) {
    const cell = cells.of(columns.kind);
    return (chunk) => {
      const [present, bits] = [chunk.present(cell), chunk.bytes(cell)];
      const opened = new Map(occurring.map(([bit, each]) => [bit, each(chunk)]));
      return (row, target) => {
        if (present(row)) opened.get(bits[row] as number)?.(row, target);
      };
    };
  }
  // Only doubles, texts and truths, or nothing: each is where its column has a value.
  const valued = occurring.filter(([bit]) => bit !== kind.missing);
  const cellOf = (bit: number): number =>
    cells.of(bit === kind.double ? columns.number : bit === kind.string ? columns.text : columns.bool);
  const tests = valued.map(([bit, each]) => [cellOf(bit), each] as const);
  return (chunk) => {
    const opened = tests.map(([cell, each]) => [chunk.present(cell), each(chunk)] as const);
    return (row, target) => {
      for (const [present, write] of opened) {
        if (!present(row)) continue;
        write(row, target);
        return;
      }
    };
  };
}

function numberWriter({ name, columns }: Shape, cells: RowCells): OpenChunk {
  const cell = cells.of(columns.number);
  const head = headOf(0x01, name);
  return (chunk) => {
    const bytes = chunk.bytes(cell, 8);
    return (row, target) => {
      target.copy(head);
      for (let i = 0; i < 8; i++) target.bytes[target.at + i] = bytes[row * 8 + i] as number;
      target.at += 8;
    };
  };
}

function textWriter({ name, columns }: Shape, cells: RowCells): OpenChunk {
  const cell = cells.of(columns.text);
  const head = headOf(0x02, name);
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

function boolWriter({ name, columns }: Shape, cells: RowCells): OpenChunk {
  const cell = cells.of(columns.bool);
  const head = headOf(0x08, name);
  return (chunk) => {
    const bytes = chunk.bytes(cell);
    return (row, target) => {
      target.copy(head);
      target.bytes[target.at++] = bytes[row] as number;
    };
  };
}

function nullWriter({ name }: Shape): OpenChunk {
  const head = headOf(0x0a, name);
  return () => (_row, target) => target.copy(head);
}

function objectWriter({ name, children }: Shape, cells: RowCells): OpenChunk {
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
