import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { getOrInsert } from '@platform/base';

/** How many bytes of a store are tried, evenly spread. */
const samples = 16;
/**
 * Descriptors of stores of which a read has failed, for the life of the process: closing one would release the locks that SQLite holds on
 * the file in this process.
 */
const probes = new Map<string, number>();

/**
 * Whether the disk of a store can be read after a read of it has failed: a damaged page fails only what needs it. False if the mark of the
 * data directory, the write-ahead log, or more than half of the samples of the file itself cannot be read.
 *
 * @param file of SQLite, in the data directory
 */
export function canBeRead(file: string): boolean {
  return [join(dirname(file), 'platform.json'), `${file}-wal`].every(isReadable) && isMostlyReadable(file);
}

function isReadable(path: string): boolean {
  return answers(() => {
    const handle = openSync(path, 'r');
    try {
      readSync(handle, Buffer.alloc(1));
    } finally {
      closeSync(handle);
    }
  });
}

function isMostlyReadable(file: string): boolean {
  let unreadable = 0;
  const isOpen = answers(() => {
    const probe = getOrInsert(probes, file, () => openSync(file, 'r'));
    const { size } = fstatSync(probe);
    for (let sample = 0; sample < samples; sample++) {
      const position = Math.floor((size * sample) / samples);
      if (!answers(() => readSync(probe, Buffer.alloc(1), 0, 1, position))) unreadable++;
    }
  });
  return isOpen && unreadable <= samples / 2;
}

/** False after EIO: too many open files say nothing about the disk, and the stores of tests have no mark. */
function answers(call: () => unknown): boolean {
  try {
    call();
    return true;
  } catch (caught) {
    return (caught as NodeJS.ErrnoException).code !== 'EIO';
  }
}
