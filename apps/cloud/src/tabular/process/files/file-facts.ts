/**
 * The facts in a sealed file's footer. They show, without reading a row, where each series lies, which kinds each leaf of `data` has, and
 * which columns hold its values (docs/specs/tabular-store.md).
 *
 * Facts describe all rows of the file as written. Deletions only remove rows, so ranges and kinds remain supersets, and counts become upper
 * bounds.
 */
import type { DuckDBConnection } from '@duckdb/node-api';
import type { Series } from '../../catalog/series.ts';

/** Kinds of a leaf, as bits. A google.protobuf.Struct contains no other kinds. */
export const kind = { missing: 1, null: 2, double: 4, string: 8, bool: 16, object: 32, array: 64 } as const;

export interface FileFacts {
  readonly rows: number;
  /** Indexed by the file's column `series`. Each series has at least one row; its rows are adjacent, in this order. */
  readonly series: readonly SeriesFacts[];
  /** Parents before children; the first is `data` itself. */
  readonly leaves: readonly LeafFacts[];
  /** Approximate memory taken by these facts, for caches. */
  readonly bytes: number;
  /** False: the file lacks the columns of the path, tags and parameters, as hot files do. Default: true. */
  readonly hasPaths?: boolean;
}

export interface SeriesFacts extends Series {
  readonly rows: number;
  /** BSON bytes of the `data` of its rows. */
  readonly dataBytes: number;
  /** file_row_number of its first row. */
  readonly firstRow: number;
  readonly received: TimeFacts;
  readonly requested: TimeFacts;
  readonly synced: TimeFacts;
  /**
   * The row that a stable `sort by time_received descending` puts first: of the rows in the latest millisecond, the first in the file.
   * Absent when no row has a time_received, its `data` is over 4 KiB, or the file's newest rows take over 4 MiB together.
   */
  readonly newest?: NewestRow;
}

/** Microseconds since 1970 UTC. */
export interface TimeFacts {
  /** null: no row has the time. */
  readonly min: bigint | null;
  readonly max: bigint | null;
  /** Number of rows without the time. */
  readonly missing: number;
}

export interface NewestRow {
  readonly position: number;
  readonly index: number;
  /** Microseconds since 1970 UTC; noTime where the sender omitted it. */
  readonly timeRequested: bigint;
  readonly timeReceived: bigint;
  readonly timeSynced: bigint;
  /** BSON document. */
  readonly data: Uint8Array;
}

/** A value at any depth below `data`, except inside arrays. */
export interface LeafFacts {
  /** Path below data: ['readings', 'temp']; [] is data itself. */
  readonly path: readonly string[];
  /** Bits of `kind`; includes `missing` when at least one row lacks the leaf, whatever its parent is there. */
  readonly kinds: number;
  /** Number of rows that have the leaf. */
  readonly rows: number;
  /**
   * Prefix of its columns' names (leafColumns): the same for a path in every file. The columns then give the kind of each row, and its
   * value except for -0, objects (their children are listed below) and arrays (only `data` contains them). Absent: there are only facts.
   */
  readonly column?: string;
  /** Present if a double occurs. */
  readonly number?: NumberFacts;
  /** Present if a string occurs. */
  readonly text?: TextFacts;
  /** For objects: no row has a child that is not listed here. */
  readonly complete?: boolean;
  /** For objects: in every row the children have the order in which `leaves` lists them. */
  readonly ordered?: boolean;
}

export interface NumberFacts {
  /** Of the finite values; Infinity and -Infinity when there are none. */
  readonly min: number;
  readonly max: number;
  /** Every finite value is a multiple of 2 to this power; 0 when all are zero. */
  readonly lowestBit: number;
  /** -0 occurs. The column contains 0 instead, because Parquet dictionaries do not distinguish the two. */
  readonly negativeZero: boolean;
  /** NaN or an infinity occurs. The column does not preserve the bits of NaN. */
  readonly nonFinite: boolean;
}

/** Bounds in the order of UTF-8 bytes, which is also the order of code points. A bound cut at 64 bytes need not be a value itself. */
export interface TextFacts {
  readonly min: string;
  /** null: no short upper bound is known. */
  readonly max: string | null;
}

/** Columns of a leaf in the file; an absent one does not exist there. */
export interface LeafColumns {
  /** DOUBLE; NULL where the leaf is not a double. */
  readonly number?: string;
  /** VARCHAR; NULL where the leaf is not a string. */
  readonly text?: string;
  /** BOOLEAN; NULL where the leaf is not a bool. */
  readonly bool?: string;
  /** UTINYINT: the row's bit of `kind`; NULL where the leaf is missing. Absent when the columns above and `kinds` are sufficient. */
  readonly kind?: string;
}

/** The columns of a leaf, if it has `column`. */
export function leafColumns({ column, kinds }: Pick<LeafFacts, 'column' | 'kinds'>): LeafColumns {
  if (column === undefined) return {};
  const isMixed = (kinds & (kinds - 1)) !== 0;
  return {
    ...(kinds & kind.double && { number: `${column}_n` }),
    ...(kinds & kind.string && { text: `${column}_s` }),
    ...(kinds & kind.bool && { bool: `${column}_b` }),
    ...(isMixed && kinds & (kind.null | kind.object | kind.array) && { kind: `${column}_k` }),
  };
}

/**
 * The facts of files by path, read in one statement.
 * Throws if a file does not exist or was not written by this store.
 */
export async function readFacts(
  connection: DuckDBConnection,
  paths: readonly string[],
): Promise<Map<string, FileFacts>> {
  const { LIST, VARCHAR, listValue } = await import('@duckdb/node-api');
  const { decodeFacts, metadataKey } = await import('./facts-in-footer.ts');
  const facts = new Map<string, FileFacts>();
  if (paths.length === 0) return facts;
  const result = await connection.runAndReadAll(
    'SELECT file_name, value FROM parquet_kv_metadata($1) WHERE decode(key) = $2',
    [listValue([...paths]), metadataKey],
    [LIST(VARCHAR), VARCHAR],
  );
  for (const [file, value] of result.getRows() as [string, { readonly bytes: Uint8Array }][])
    facts.set(file, decodeFacts(value.bytes));
  for (const path of paths)
    if (!facts.has(path))
      throw new Error(`expected ${metadataKey} in the metadata of ${path}, found none: not a file of ours`);
  return facts;
}
