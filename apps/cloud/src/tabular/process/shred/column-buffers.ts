/** Values of leaves by column, in the layout of DuckDB's vectors, one chunk of rows at a time. */
import { kind, type LeafColumns, type LeafFacts, leafColumns } from '../files/file-facts.ts';
import type { DescribedLeaf } from './describe-leaves.ts';
import type { Entries } from './walk-documents.ts';

/** Rows of a DuckDB vector. */
export const chunkRows = 2_048;
/** DuckDB stores texts of up to this many bytes in the vector itself, after their length. */
const inlineBytes = 12;
const textCellBytes = 16;

export interface ColumnBuffer {
  readonly name: string;
  readonly type: 'DOUBLE' | 'VARCHAR' | 'BOOLEAN' | 'UTINYINT';
  /** Cells in DuckDB's layout; texts too long for a cell are in `long`. */
  readonly cells: Uint8Array;
  /** The same memory as doubles. */
  readonly doubles: Float64Array;
  /** One bit per row, set if it has a value. */
  readonly validity: Uint8Array;
  readonly long: { readonly row: number; readonly text: Uint8Array }[];
  /** Whether any row of the chunk has a value. */
  used: boolean;
}

/** Adds the entries [from, to), whose values are in `bytes`; `firstRow` is the first row of the chunk. */
export type AddEntries = (entries: Entries, from: number, to: number, bytes: Uint8Array, firstRow: number) => void;

export interface ColumnBuffers {
  readonly columns: readonly ColumnBuffer[];
  /** Creates the columns of some leaves and returns a function that fills them. Leaves of one path share their columns. */
  forLeaves(leaves: readonly DescribedLeaf[]): AddEntries;
  /** Begins the next chunk. */
  clear(): void;
}

export function createColumnBuffers(): ColumnBuffers {
  const columns: ColumnBuffer[] = [];
  const byName = new Map<string, ColumnBuffer>();
  const make = (name: string, type: ColumnBuffer['type'], cellBytes: number): ColumnBuffer => {
    const known = byName.get(name);
    if (known !== undefined) return known;
    const cells = new Uint8Array(chunkRows * cellBytes);
    const buffer: ColumnBuffer = {
      name,
      type,
      cells,
      doubles: new Float64Array(cells.buffer, 0, Math.floor(cells.length / 8)),
      validity: new Uint8Array(chunkRows / 8),
      long: [],
      used: false,
    };
    byName.set(name, buffer);
    columns.push(buffer);
    return buffer;
  };

  return {
    columns,
    forLeaves(leaves) {
      // Indexed by leaf number.
      const doubles: (ColumnBuffer | undefined)[] = [];
      const texts: (ColumnBuffer | undefined)[] = [];
      const bools: (ColumnBuffer | undefined)[] = [];
      const kinds: (ColumnBuffer | undefined)[] = [];
      for (const { of, ...facts } of leaves) {
        const { number, text, bool, kind: kindColumn } = hotLeafColumns(facts);
        if (number !== undefined) doubles[of] = make(number, 'DOUBLE', 8);
        if (text !== undefined) texts[of] = make(text, 'VARCHAR', textCellBytes);
        if (bool !== undefined) bools[of] = make(bool, 'BOOLEAN', 1);
        if (kindColumn !== undefined) kinds[of] = make(kindColumn, 'UTINYINT', 1);
      }
      return ({ leaf: numbers, kind: bits, at: starts, row: rows }, from, to, bytes, firstRow) => {
        const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
        for (let entry = from; entry < to; entry++) {
          const leaf = numbers[entry] as number;
          const bit = bits[entry] as number;
          const row = (rows[entry] as number) - firstRow;
          const at = starts[entry] as number;
          const kindColumn = kinds[leaf];
          if (kindColumn !== undefined) {
            kindColumn.cells[row] = bit;
            mark(kindColumn, row);
          }
          if (bit === kind.double) {
            const column = doubles[leaf];
            if (column === undefined) continue;
            // Never -0: the dictionary of a file may write one of the two for the other, also in slices whose facts tell of no -0.
            column.doubles[row] = view.getFloat64(at, true) + 0;
            mark(column, row);
          } else if (bit === kind.string) {
            const column = texts[leaf];
            if (column === undefined) continue;
            setText(column, row, bytes, at + 4, view.getInt32(at, true) - 1);
            mark(column, row);
          } else if (bit === kind.bool) {
            const column = bools[leaf];
            if (column === undefined) continue;
            column.cells[row] = bytes[at] as number;
            mark(column, row);
          }
        }
      };
    },
    clear() {
      for (const column of columns) {
        if (!column.used) continue;
        column.used = false;
        column.validity.fill(0);
        column.long.length = 0;
        if (column.type === 'VARCHAR') column.cells.fill(0);
      }
    },
  };
}

/**
 * Columns of a leaf in a hot file. A leaf that is ever null, an object or an array has a kind column, even if all rows are of one kind:
 * rows from many files then show their kind without the file's facts.
 */
export function hotLeafColumns(leaf: Pick<LeafFacts, 'path' | 'column' | 'kinds'>): LeafColumns {
  const columns = leafColumns(leaf);
  const isSaid = leaf.column !== undefined && leaf.path.length > 0 && (leaf.kinds & valueless) !== 0;
  return isSaid ? { ...columns, kind: `${leaf.column}_k` } : columns;
}

const valueless = kind.null | kind.object | kind.array;

function mark(column: ColumnBuffer, row: number): void {
  column.used = true;
  (column.validity[row >> 3] as number) |= 1 << (row & 7);
}

function setText(column: ColumnBuffer, row: number, bytes: Uint8Array, text: number, length: number): void {
  const { cells, long } = column;
  if (length > inlineBytes) {
    long.push({ row, text: bytes.subarray(text, text + length) });
    return;
  }
  const cell = row * textCellBytes;
  cells[cell] = length;
  for (let i = 0; i < length; i++) cells[cell + 4 + i] = bytes[text + i] as number;
}
