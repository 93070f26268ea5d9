/**
 * A hot file: rows of the log that are not sealed yet, in the columns of a sealed file, on the local disk below parquet/.hot.
 *
 * It is a cache like everything hot (I8): neither synced nor listed, written again from the log whenever it is not as it was. Beside it
 * stands a note `<name>.note` with its facts and checksum, from which the next process takes it over.
 */
import { lstat } from 'node:fs/promises';
import type { FileStamp } from '../../../instance/file-stamp.ts';
import type { Slice } from '../slice.ts';

export interface HotFile {
  readonly path: string;
  /** All rows of positions in (from, to], and no others. */
  readonly from: number;
  readonly to: number;
  readonly rows: number;
  /** BSON bytes of its rows' `data`. */
  readonly dataBytes: number;
  readonly slices: readonly Slice[];
  /** Of the file as it was written. */
  readonly stamp: FileStamp;
  /** Its note stands beside it. */
  noted?: boolean;
}

/** Undefined when there is no such file. */
export async function stampOf(path: string): Promise<FileStamp | undefined> {
  try {
    return await lstat(path, { bigint: true });
  } catch {
    return undefined;
  }
}
