/**
 * A hot batch: rows of the log that are not sealed yet, in the columns of sealed files, on the local disk below parquet/.hot. An
 * organization and day with many of them has a file of its own, so that its queries read no others' rows; all others share one.
 *
 * It is a cache like everything hot (I8): neither synced nor listed, written again from the log whenever it is not as it was. Beside it
 * stands a note `<name>.note` with its facts and checksums, from which the next process takes it over.
 */
import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { newId } from '@platform/base';
import type { FileStamp } from '../../../instance/file-stamp.ts';
import type { Slice } from '../files/slice.ts';

export interface HotBatch {
  /** All rows of positions in (from, to], and no others. */
  readonly from: number;
  readonly to: number;
  readonly rows: number;
  /** BSON bytes of its rows' `data`. */
  readonly dataBytes: number;
  readonly files: readonly HotFile[];
  /** Of all its files. */
  readonly slices: readonly Slice[];
  readonly notePath: string;
  /** The note is there. */
  noted?: boolean;
}

export interface HotFile {
  readonly path: string;
  /** As it was written. */
  readonly stamp: FileStamp;
}

/** Names of a new batch's files, which nothing else has. */
export interface BatchNames {
  readonly note: string;
  file(index: number): string;
}

/** @param directory parquet/.hot. */
export function newBatchNames(directory: string, from: number, to: number): BatchNames {
  const base = join(directory, `${from}-${to}-${newId()}`);
  return { note: `${base}.note`, file: (index) => `${base}-${index}.parquet` };
}

/** Rows of an organization and day from which on they have a file of their own, or bytes of their `data`. */
const ownFile = { rows: 4_096, bytes: 1 << 20 } as const;

export function needsOwnFile({ rows, dataBytes }: { readonly rows: number; readonly dataBytes: number }): boolean {
  return rows >= ownFile.rows || dataBytes >= ownFile.bytes;
}

/** Undefined when there is no such file. Asked at once: it takes microseconds, a turn in the thread pool behind DuckDB's statements far longer. */
export function stampOf(path: string): FileStamp | undefined {
  try {
    return lstatSync(path, { bigint: true, throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

export function filePaths(batches: readonly HotBatch[]): string[] {
  return batches.flatMap(({ files }) => files.map(({ path }) => path));
}
