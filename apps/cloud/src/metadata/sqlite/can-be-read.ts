import { closeSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';

/** Whether any file of the data directory can be read: false when its disk is gone. @param directory the data directory */
export function canBeRead(directory: string): boolean {
  try {
    const handle = openSync(join(directory, 'platform.json'), 'r');
    try {
      readSync(handle, Buffer.alloc(1));
    } finally {
      closeSync(handle);
    }
    return true;
  } catch (caught) {
    // Stores without a directory of ours, as in tests.
    return (caught as NodeJS.ErrnoException).code === 'ENOENT';
  }
}
