/**
 * What a sealed file says about itself in its footer: enough to know, without reading a row, which series lie where, of which kinds
 * each leaf of `data` is, and in which columns its values stand (docs/specs/tabular-store.md).
 *
 * Facts hold for all rows of the file as it was written; deletions only take rows away, so ranges and kinds stay supersets and
 * counts become upper bounds.
 */
import type { DuckDBConnection } from '@duckdb/node-api';
import type { Series } from '../../catalog/series.ts';

/** Kinds of a leaf, as bits. Nothing else comes out of a google.protobuf.Struct. */
export const kind = { missing: 1, null: 2, double: 4, string: 8, bool: 16, object: 32, array: 64 } as const;

export interface FileFacts {
  readonly rows: number;
  /** By the file's column `series`; each has at least one row, and its rows are adjacent, in this order. */
  readonly series: readonly SeriesFacts[];
  /** Parents before children; the first is `data` itself. */
  readonly leaves: readonly LeafFacts[];
  /** About what these facts take in memory, for whoever keeps them. */
  readonly bytes: number;
  /** False: the columns of the path, of tags and parameters are not there, as in hot files. Default: they are. */
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
   * The row that a stable `sort by time_received descending` puts first: of those in the latest millisecond, the first in the file.
   * Absent when no row has a time_received, its `data` is over 4 KiB, or the file's newest rows take over 4 MiB together.
   */
  readonly newest?: NewestRow;
}

/** Microseconds since 1970 UTC. */
export interface TimeFacts {
  /** null: no row has the time. */
  readonly min: bigint | null;
  readonly max: bigint | null;
  /** Rows without it. */
  readonly missing: number;
}

export interface NewestRow {
  readonly position: number;
  readonly index: number;
  /** Microseconds since 1970 UTC; noTime where the sender left one out. */
  readonly timeRequested: bigint;
  readonly timeReceived: bigint;
  readonly timeSynced: bigint;
  /** BSON document. */
  readonly data: Uint8Array;
}

/** A value somewhere below `data`, not below an array. */
export interface LeafFacts {
  /** Below data: ['readings', 'temp']; [] is data itself. */
  readonly path: readonly string[];
  /** Bits of `kind`; `missing` when at least one row lacks it, whatever its parent is there. */
  readonly kinds: number;
  /** Rows in which it is not missing. */
  readonly rows: number;
  /**
   * Begins the names of its columns (leafColumns): the same for a path in every file. The kind of each row is then known, and its value
   * except for -0, for objects (their entries below say more) and arrays (only `data` has them). Absent: there are only facts.
   */
  readonly column?: string;
  /** Present if a double occurs. */
  readonly number?: NumberFacts;
  /** Present if a string occurs. */
  readonly text?: TextFacts;
  /** Of objects: no row has a child that is not listed, so what is not listed is missing in every row. */
  readonly complete?: boolean;
  /** Of objects: in every row the children come in the order in which `leaves` lists them. */
  readonly ordered?: boolean;
}

export interface NumberFacts {
  /** Of the finite values; Infinity and -Infinity when there are none. */
  readonly min: number;
  readonly max: number;
  /** Every finite value is a multiple of 2 to this power; 0 when all are zero. */
  readonly lowestBit: number;
  /** -0 occurs; the column may say 0 for it, because dictionaries in Parquet hold the two for one. */
  readonly negativeZero: boolean;
  /** NaN or an infinity occurs. Of NaN the column says that it is one, not with which bits. */
  readonly nonFinite: boolean;
}

/** Bounds in the order of UTF-8 bytes, which is that of code points; not themselves values when they were cut (64 bytes). */
export interface TextFacts {
  readonly min: string;
  /** null: nothing short is known to be greater. */
  readonly max: string | null;
}

/** Columns of a leaf in the file; absent ones do not exist there. */
export interface LeafColumns {
  /** DOUBLE, NULL where the leaf is no double. */
  readonly number?: string;
  /** VARCHAR, NULL where it is no string. */
  readonly text?: string;
  /** BOOLEAN, NULL where it is no bool. */
  readonly bool?: string;
  /** UTINYINT: the row's bit of `kind`, NULL where it is missing. Absent when the columns above and `kinds` say all. */
  readonly kind?: string;
}

/** The columns that a leaf with `column` has. */
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
 * The facts of files, by the paths as they were given. One statement, however many files.
 * Throws when a file is not there or is not one of ours.
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
