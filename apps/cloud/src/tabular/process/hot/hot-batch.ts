/**
 * A hot batch: unsealed rows of the log, in the columns of sealed files, on the local disk below parquet/.hot. An organization and day with
 * many rows has its own file, so that its queries read no other rows; all others share one.
 *
 * Like everything hot it is a cache (I8): neither synced nor listed, and rewritten from the log if it has changed. A note `<name>.note`
 * next to it holds its facts and checksums, with which the next process takes it over.
 */
import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { newId } from '@platform/base';
import { type FileStamp, isSameStamp } from '../../../instance/file-stamp.ts';
import type { Slice } from '../files/slice.ts';

export interface HotBatch {
  /** All rows at positions in (from, to], and no others. */
  readonly from: number;
  readonly to: number;
  readonly rows: number;
  /** BSON bytes of its rows' `data`. */
  readonly dataBytes: number;
  readonly files: readonly HotFile[];
  /** Slices of all its files. */
  readonly slices: readonly Slice[];
  readonly notePath: string;
  /** Whether the note has been written. */
  noted?: boolean;
}

export interface HotFile {
  readonly path: string;
  /** Stamp of the file after writing. */
  readonly stamp: FileStamp;
}

/** Unique names for a new batch's files. */
export interface BatchNames {
  readonly note: string;
  file(index: number): string;
}

/** @param directory parquet/.hot */
export function newBatchNames(directory: string, from: number, to: number): BatchNames {
  const base = join(directory, `${from}-${to}-${newId()}`);
  return { note: `${base}.note`, file: (index) => `${base}-${index}.parquet` };
}

/** An organization and day with this many rows, or bytes of `data`, has its own file. */
const ownFile = { rows: 4_096, bytes: 1 << 20 } as const;

export function needsOwnFile({ rows, dataBytes }: { readonly rows: number; readonly dataBytes: number }): boolean {
  return rows >= ownFile.rows || dataBytes >= ownFile.bytes;
}

/**
 * Undefined if the file does not exist. Synchronous: it takes microseconds, and queueing in the thread pool behind DuckDB takes far longer.
 */
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

/** A hot file has changed: its rows must be read from the log again. */
export class HotFileChanged extends Error {
  constructor(path: string) {
    super(`${path} has been changed or removed since it was written`);
  }
}

/** @throws HotFileChanged naming the first file that differs from what was written */
export function checkStamps(files: readonly HotFile[]): void {
  const changed = files.find(({ path, stamp }) => {
    const now = stampOf(path);
    return now === undefined || !isSameStamp(stamp, now);
  });
  if (changed !== undefined) throw new HotFileChanged(changed.path);
}
