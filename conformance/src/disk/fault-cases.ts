/** What a disk may do: each kind of call fails, is shortened or delayed, once or until the disk is exchanged, for each kind of file. */
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
