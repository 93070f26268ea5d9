import { closeSync, openSync, readSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * Whether the disk of a store can be read: false when it is gone. Reads the mark of the data directory and the write-ahead log, not the file
 * itself: closing it would release the locks that SQLite holds on it in this process.
 *
 * @param file of SQLite, in the data directory
 */
export function canBeRead(file: string): boolean {
  return [join(dirname(file), 'platform.json'), `${file}-wal`].every(isReadable);
}

function isReadable(path: string): boolean {
  try {
    const handle = openSync(path, 'r');
    try {
      readSync(handle, Buffer.alloc(1));
    } finally {
      closeSync(handle);
    }
    return true;
  } catch (caught) {
    // Too many open files say nothing about the disk, and the stores of tests have no mark.
    return (caught as NodeJS.ErrnoException).code !== 'EIO';
  }
}
