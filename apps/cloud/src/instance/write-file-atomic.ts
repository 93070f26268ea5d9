import {
  closeSync,
  fchmodSync,
  fchownSync,
  fsyncSync,
  lstatSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { syncPathNow } from './sync-path.ts';

interface Attributes {
  readonly uid: number;
  readonly gid: number;
  readonly mode: number;
}

/** Writes a small file completely or not at all, even after a power cut or on a full disk; mode 0600. */
export function writeFileAtomic(path: string, content: string, like?: Attributes): void {
  const draft = `${path}.${process.pid}.new`;
  try {
    const handle = openSync(draft, 'w', 0o600);
    try {
      if (like !== undefined) {
        fchownSync(handle, like.uid, like.gid);
        fchmodSync(handle, like.mode & 0o777);
      }
      // Unlike writeSync, it continues after a short write, and thus reports the full disk that caused it.
      writeFileSync(handle, content);
      fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
    renameSync(draft, path);
  } catch (caught) {
    rmSync(draft, { force: true });
    throw caught;
  }
  syncPathNow(dirname(path));
}

/** A mount of one file, one that belongs to another account, a read-only place: no earlier start has written there. */
const notOurs = ['EBUSY', 'EPERM', 'EACCES', 'EROFS'];

/** Writes a file that was read back once more: after a failed sync of an earlier run it may not be on the disk (I14). */
export function writeFileAgain(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (!found?.isFile()) return;
  try {
    writeFileAtomic(path, readFileSync(path, 'utf8'), found);
  } catch (caught) {
    if (!notOurs.includes((caught as NodeJS.ErrnoException).code ?? '')) throw caught;
  }
}
