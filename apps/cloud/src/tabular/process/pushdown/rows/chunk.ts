/** Columns of a DuckDB chunk as typed arrays over its memory; read them before fetching the next chunk. */
import duckdb from '@duckdb/node-bindings';

type RawChunk = Parameters<typeof duckdb.data_chunk_get_vector>[0];
type Vector = ReturnType<typeof duckdb.data_chunk_get_vector>;

export class Chunk {
  readonly rows: number;
  readonly #chunk: RawChunk | ((column: number) => Vector);
  readonly #first: number;
  readonly #firstRow: number;

  /**
   * @param chunk DuckDB's chunk, or a function that returns its columns
   * @param first the column that becomes number 0
   * @param firstRow the row that becomes number 0
   */
  constructor(chunk: RawChunk | ((column: number) => Vector), rows: number, first = 0, firstRow = 0) {
    this.#chunk = chunk;
    this.rows = rows;
    this.#first = first;
    this.#firstRow = firstRow;
  }

  /** The same rows without the first `first` columns. */
  from(first: number): Chunk {
    return new Chunk(this.#chunk, this.rows, this.#first + first, this.#firstRow);
  }

  /** The rows [from, to). */
  slice(from: number, to: number): Chunk {
    return new Chunk(this.#chunk, to - from, this.#first, this.#firstRow + from);
  }

  #vector(column: number): Vector {
    if (typeof this.#chunk === 'function') return this.#chunk(this.#first + column);
    return duckdb.data_chunk_get_vector(this.#chunk, this.#first + column);
  }

  bytes(column: number, itemBytes = 1): Uint8Array {
    const [start, length] = [this.#firstRow * itemBytes, this.rows * itemBytes];
    const bytes = duckdb.vector_get_data(this.#vector(column), start + length);
    return start === 0 ? bytes : bytes.subarray(start);
  }

  int32(column: number): Int32Array {
    const bytes = this.bytes(column, 4);
    return new Int32Array(bytes.buffer, bytes.byteOffset, this.rows);
  }

  int64(column: number): BigInt64Array {
    const bytes = this.bytes(column, 8);
    return new BigInt64Array(bytes.buffer, bytes.byteOffset, this.rows);
  }

  /** 64-bit values as pairs of 32-bit words. */
  words(column: number): Uint32Array {
    const bytes = this.bytes(column, 8);
    return new Uint32Array(bytes.buffer, bytes.byteOffset, this.rows * 2);
  }

  /** Signed 128-bit values. */
  hugeint(column: number): (row: number) => bigint {
    const bytes = this.bytes(column, 16);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    return (row) => (view.getBigInt64(row * 16 + 8, true) << 64n) | view.getBigUint64(row * 16, true);
  }

  double(column: number): Float64Array {
    const bytes = this.bytes(column, 8);
    return new Float64Array(bytes.buffer, bytes.byteOffset, this.rows);
  }

  /** Whether a row's value is not NULL. */
  present(column: number): (row: number) => boolean {
    const first = this.#firstRow;
    const bits: Uint8Array | null = duckdb.vector_get_validity(
      this.#vector(column),
      Math.ceil((first + this.rows) / 64) * 8,
    );
    if (bits === null || bits.length === 0) return () => true;
    return (row) => ((bits[(first + row) >> 3] as number) & (1 << ((first + row) & 7))) !== 0;
  }

  /** Lengths of the rows' VARCHARs or BLOBs; undefined content for NULLs. */
  lengths(column: number): (row: number) => number {
    const bytes = this.bytes(column, 16);
    const words = new Uint32Array(bytes.buffer, bytes.byteOffset, this.rows * 4);
    return (row) => words[row * 4] as number;
  }

  /** The LISTs of a column: their items as a chunk of one column, and the range of items of each row that is not NULL. */
  lists(column: number): { readonly items: Chunk; readonly of: (row: number) => readonly [from: number, to: number] } {
    const vector = this.#vector(column);
    const items = new Chunk(() => duckdb.list_vector_get_child(vector), duckdb.list_vector_get_size(vector));
    const bytes = this.bytes(column, 16);
    const words = new BigUint64Array(bytes.buffer, bytes.byteOffset, this.rows * 2);
    return {
      items,
      of: (row) => {
        const from = Number(words[row * 2]);
        return [from, from + Number(words[row * 2 + 1])];
      },
    };
  }

  /** Bytes of the VARCHAR or BLOB of a row that is not NULL. */
  blob(column: number): (row: number) => Uint8Array {
    const bytes = this.bytes(column, 16);
    const words = new Uint32Array(bytes.buffer, bytes.byteOffset, this.rows * 4);
    const longAt = longTexts(bytes, words, this.present(column));
    return (row) => {
      const length = words[row * 4] as number;
      // DuckDB stores up to twelve bytes in place, and a pointer to longer values.
      return length <= maxInPlace ? bytes.subarray(row * 16 + 4, row * 16 + 4 + length) : longAt(row, length);
    };
  }
}

const maxInPlace = 12;

/**
 * Memory that is read in one access, from the pointer of one row to the end of another, because each access costs more than a row's text.
 */
interface Run {
  start: number;
  end: number;
  /** The row whose pointer is `start`. */
  row: number;
  bytes?: Uint8Array;
}

/**
 * Texts of rows that are close to each other in memory form one run. Two such texts are on the same or adjacent pages, so the whole run can
 * be read safely.
 */
function longTexts(
  bytes: Uint8Array,
  words: Uint32Array,
  present: (row: number) => boolean,
): (row: number, length: number) => Uint8Array {
  const rows = words.length / 4;
  const starts = new Float64Array(rows);
  const runs: Run[] = [];
  const runOf = new Int32Array(rows);
  let run: Run | undefined;
  for (let row = 0; row < rows; row++) {
    const length = words[row * 4] as number;
    if (length <= maxInPlace || !present(row)) continue;
    const start = (words[row * 4 + 2] as number) + (words[row * 4 + 3] as number) * 2 ** 32;
    const end = start + length;
    starts[row] = start;
    if (run !== undefined && start >= run.end && areNear(run.end, start)) run.end = end;
    else if (run !== undefined && end <= run.start && areNear(end, run.start)) {
      run.start = start;
      run.row = row;
    } else if (run === undefined || start < run.start || end > run.end) {
      run = { start, end, row };
      runs.push(run);
    }
    runOf[row] = runs.length - 1;
  }
  return (row, length) => {
    const found = runs[runOf[row] as number] as Run;
    found.bytes ??= duckdb.get_data_from_pointer(
      bytes.buffer as ArrayBuffer,
      bytes.byteOffset + found.row * 16 + 8,
      found.end - found.start,
    );
    const at = (starts[row] as number) - found.start;
    return found.bytes.subarray(at, at + length);
  };
}

const pageBytes = 4_096;

/** Whether one text's end and the next one's start are on the same page or on adjacent pages. */
function areNear(end: number, start: number): boolean {
  return Math.floor(start / pageBytes) - Math.floor((end - 1) / pageBytes) <= 1;
}
