/**
 * A hot file: rows of the log that are not sealed yet, in the columns of a sealed file, on the local disk below parquet/.hot.
 *
 * It is a cache like everything hot (I8): neither synced nor listed, written again from the log whenever it is not as it was. Beside it
 * stands a note `<name>.note` with its facts and checksum, from which the next process takes it over.
 */
import { stat } from 'node:fs/promises';
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

/** What changes whenever a file does. */
export interface FileStamp {
  readonly inode: number;
  readonly size: number;
  readonly modifiedNs: bigint;
  readonly changedNs: bigint;
}

/** Undefined when there is no such file. */
export async function stampOf(path: string): Promise<FileStamp | undefined> {
  try {
    const { ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
    return { inode: Number(ino), size: Number(size), modifiedNs: mtimeNs, changedNs: ctimeNs };
  } catch {
    return undefined;
  }
}

export function isSameStamp(a: FileStamp, b: FileStamp | undefined): boolean {
  return (
    b !== undefined &&
    a.inode === b.inode &&
    a.size === b.size &&
    a.modifiedNs === b.modifiedNs &&
    a.changedNs === b.changedNs
  );
}
