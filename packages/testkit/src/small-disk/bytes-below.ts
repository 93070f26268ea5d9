import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

const blockBytes = 4_096;

/** The disk space used by the files below a folder. */
export function bytesBelow(directory: string): number {
  let sum = 0;
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    // A folder or file may have been removed meanwhile.
    if (entry.isDirectory()) sum += statSync(path, { throwIfNoEntry: false }) === undefined ? 0 : bytesBelow(path);
    else sum += Math.ceil((statSync(path, { throwIfNoEntry: false })?.size ?? 0) / blockBytes) * blockBytes;
  }
  return sum;
}
