/**
 * What a disk may do: each kind of call fails, is shortened or delayed, once or until the disk is exchanged, for each kind of file.
 *
 * Calls that report success and do nothing: only those whose effect no acknowledgement needs. For syncs, writes, renames
 * and links no program can hold I2 (docs/specs/ingest.md). What a power cut forgets because no sync followed is a part of every run.
 */
import type { DiskFault, FileCall } from '@platform/testkit';

export interface FaultCase {
  /** What the disk does, wherever and however often. */
  readonly kind: string;
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
 * Some of all kinds of faults at all places, each kind as often as the others.
 *
 * @param places patterns below the directory. @param random uniform in [0, 1)
 */
export function faultCases(places: readonly string[], count: number, random: () => number): readonly FaultCase[] {
  const all = kinds.flatMap(([kind, fault]) =>
    places.flatMap((path) =>
      [true, false].map((isOnce): FaultCase => {
        const name = `${kind}${isOnce ? ' once' : ''} for ${path}`;
        return { kind, name, isOnce, fault: { ...fault, path, ...(isOnce && { times: 1 }) } };
      }),
    ),
  );
  const shuffled = all.map((each) => [random(), each] as const).toSorted(([a], [b]) => a - b);
  const seen = new Map<string, number>();
  const inTurns = shuffled.map(([, each]) => {
    const turn = seen.get(each.kind) ?? 0;
    seen.set(each.kind, turn + 1);
    return [turn, each] as const;
  });
  return inTurns
    .toSorted(([a], [b]) => a - b)
    .slice(0, count)
    .map(([, each]) => each);
}

/**
 * How often each kind has affected a call, and the cases that are left to do because a kind has not: it lasts, for all files, so that it
 * happens whatever the chosen places are.
 */
export class FaultTally {
  readonly #hits: Map<string, number>;

  /** @param cases that are planned: only their kinds count */
  constructor(cases: readonly FaultCase[]) {
    this.#hits = new Map(cases.map(({ kind }) => [kind, 0]));
  }

  count({ kind }: FaultCase, affected: number): void {
    this.#hits.set(kind, (this.#hits.get(kind) ?? 0) + affected);
  }

  /** The kinds that have affected no call. */
  get missed(): readonly string[] {
    return [...this.#hits].filter(([, hits]) => hits === 0).map(([kind]) => kind);
  }

  get again(): readonly FaultCase[] {
    const missed = new Set(this.missed);
    return kinds
      .filter(([kind]) => missed.has(kind))
      .map(([kind, fault]) => ({
        kind,
        name: `${kind} for *, once more`,
        isOnce: false,
        fault: { ...fault, path: '*' },
      }));
  }
}
