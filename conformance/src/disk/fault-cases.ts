/**
 * What a disk may do: each kind of call fails, is shortened or delayed, once or until the disk is exchanged, for each kind of file.
 *
 * Calls that report success and do nothing: only those whose effect no acknowledgement needs. For syncs, writes, renames
 * and links no program can hold I2 (docs/specs/ingest.md).
 */
import type { DiskFault, FileCall } from '@platform/testkit';

export interface FaultCase {
  readonly name: string;
  readonly fault: DiskFault;
  readonly isOnce: boolean;
}

const reads: readonly FileCall[] = ['read', 'pread', 'readv', 'preadv'];
const writes: readonly FileCall[] = ['write', 'pwrite', 'writev', 'pwritev', 'copy_file_range', 'sendfile'];
const syncs: readonly FileCall[] = ['fsync', 'fdatasync'];

const kinds: readonly (readonly [name: string, fault: DiskFault])[] = [
  ['syncs fail', { calls: syncs, fail: 'EIO' }],
  ['syncs take 300 ms', { calls: syncs, delayMs: 300 }],
  ['writes fail', { calls: writes, fail: 'EIO' }],
  ['writes find no space', { calls: writes, fail: 'ENOSPC' }],
  ['writes are short', { calls: writes, bytes: 0 }],
  ['writes take 50 ms', { calls: writes, delayMs: 50 }],
  ['reads fail', { calls: reads, fail: 'EIO' }],
  ['reads are short', { calls: reads, bytes: 0 }],
  ['opening fails', { calls: ['open'], fail: 'EIO' }],
  ['opening finds no descriptor', { calls: ['open'], fail: 'EMFILE' }],
  ['opening finds no inode', { calls: ['open', 'mkdir'], fail: 'ENOSPC' }],
  ['truncating fails', { calls: ['ftruncate'], fail: 'EIO' }],
  ['renaming fails', { calls: ['rename', 'link'], fail: 'EIO' }],
  ['removing fails', { calls: ['unlink', 'rmdir'], fail: 'EIO' }],
  ['listing fails', { calls: ['list'], fail: 'EIO' }],
  ['reads take 50 ms', { calls: reads, delayMs: 50 }],
  ['opening takes 300 ms', { calls: ['open'], delayMs: 300 }],
  ['truncating takes 300 ms', { calls: ['ftruncate'], delayMs: 300 }],
  ['renaming takes 300 ms', { calls: ['rename', 'link'], delayMs: 300 }],
  ['removing takes 300 ms', { calls: ['unlink', 'rmdir'], delayMs: 300 }],
  ['listing takes 300 ms', { calls: ['list'], delayMs: 300 }],
  ['truncating is forgotten', { calls: ['ftruncate'], forget: true }],
  ['removing is forgotten', { calls: ['unlink', 'rmdir'], forget: true }],
  ['making folders is forgotten', { calls: ['mkdir'], forget: true }],
];

/**
 * Some of all kinds of faults at all places.
 *
 * @param places patterns below the directory. @param random uniform in [0, 1)
 */
export function faultCases(places: readonly string[], count: number, random: () => number): readonly FaultCase[] {
  const all = kinds.flatMap(([kind, fault]) =>
    places.flatMap((path) =>
      [true, false].map((isOnce): FaultCase => {
        const name = `${kind}${isOnce ? ' once' : ''} for ${path}`;
        return { name, isOnce, fault: { ...fault, path, ...(isOnce && { times: 1 }) } };
      }),
    ),
  );
  const shuffled = all.map((each) => [random(), each] as const).toSorted(([a], [b]) => a - b);
  return shuffled.slice(0, count).map(([, each]) => each);
}
