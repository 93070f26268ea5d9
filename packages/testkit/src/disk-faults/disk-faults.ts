/**
 * A disk that lies, for processes: a library below their file calls fails, shortens, delays and forgets them by rules that may change while
 * the processes run, and records what they wrote and synced, from which `cutImages` computes what a power cut leaves.
 *
 * It needs a C compiler, so only `*.fault.ts` use it, which `npm run fault -- disk` runs:
 *
 *   await using disk = await startDiskFaults(directory);  // before anything is in the directory
 *   await using child = spawnChild(command, args, { env: disk.env });
 *   disk.set([{ calls: ['fdatasync'], path: 'ingest.sqlite-wal', fail: 'EIO', times: 1 }]);
 *   // … until it was hit: disk.affected() is [1] …
 *   for (const image of cutImages(disk.calls(), { random, randomInstants: 10, everyBoundary: 0 }))
 *     await restoreImage(image, directory, elsewhere);
 */
import { mkdtempSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Syscall } from '../record-syscalls.ts';
import { buildLibrary } from './build-library.ts';
import { readJournal } from './read-journal.ts';

/** `list` reads a directory. The forms with p and v are calls of their own, as in the C library. */
export type FileCall =
  | ('open' | 'list' | 'mkdir' | 'rename' | 'link' | 'unlink' | 'rmdir')
  | ('read' | 'pread' | 'readv' | 'preadv')
  | ('write' | 'pwrite' | 'writev' | 'pwritev' | 'copy_file_range' | 'sendfile' | 'ftruncate')
  | ('fsync' | 'fdatasync');

/** Exactly one of `fail`, `bytes`, `delayMs` and `forget`. */
export interface DiskFault {
  /** Default: all. */
  readonly calls?: readonly FileCall[];
  /** Below the directory; `*` stands for any characters, slashes included. Default: all. */
  readonly path?: string;
  /** A failed sync does not reach the disk, and what it would have covered is never covered by a later one. */
  readonly fail?: 'EIO' | 'ENOSPC' | 'EMFILE' | 'EROFS' | 'ENOENT' | 'EDQUOT' | 'EACCES';
  /** Longest read or write; 0: half of what was asked for. */
  readonly bytes?: number;
  /** Before the call. */
  readonly delayMs?: number;
  /** The call does nothing and reports success: a read finds the end of the file, `open` and `list` fail or pass. */
  readonly forget?: true;
  /** Default 0. */
  readonly skip?: number;
  /** Calls that are affected, of all processes together; default: all from now on. */
  readonly times?: number;
}

export interface DiskFaults extends AsyncDisposable {
  /** For processes that should be affected; their child processes inherit it. */
  readonly env: Readonly<Record<string, string>>;
  /** Replaces the faults, also those of running processes. At most 64 in the life of this object; they are counted anew. */
  set(faults: readonly DiskFault[]): void;
  /** How many calls each of the faults has affected. */
  affected(): readonly number[];
  /** What the processes have done so far. */
  calls(): Syscall[];
}

const slots = 64;
const actions = { fail: 1, bytes: 2, forget: 3, delayMs: 4 } as const;

/** @throws without Linux or a C compiler */
export async function startDiskFaults(directory: string): Promise<DiskFaults> {
  const library = buildLibrary();
  const folder = mkdtempSync(join(tmpdir(), 'disk-faults-'));
  const at = (name: string): string => join(folder, name);
  const root = realpathSync(directory);
  writeFileSync(at('root'), root);
  writeFileSync(at('rules'), '');
  writeFileSync(at('journal'), '');
  writeFileSync(at('counts'), Buffer.alloc(slots * 8));
  let used: readonly number[] = [];
  let next = 0;
  return {
    env: { LD_PRELOAD: library, DISK_FAULTS: folder },
    set(faults) {
      if (next + faults.length > slots)
        throw new Error(`expected at most ${slots} faults, found ${next + faults.length}`);
      used = faults.map(() => next++);
      const lines = faults.map((fault, index) => ruleOf(fault, used[index] as number, root));
      writeFileSync(at('rules.new'), lines.join(''));
      renameSync(at('rules.new'), at('rules'));
    },
    affected() {
      const counts = readFileSync(at('counts'));
      return used.map((slot) => counts.readUInt32LE(slot * 8 + 4));
    },
    calls: () => readJournal(readFileSync(at('journal'))),
    async [Symbol.asyncDispose]() {
      rmSync(folder, { recursive: true });
    },
  };
}

function ruleOf(fault: DiskFault, slot: number, root: string): string {
  const { calls = ['*'], path = '*', skip = 0, times = 0 } = fault;
  const [action] = (Object.keys(actions) as (keyof typeof actions)[]).filter((each) => fault[each] !== undefined);
  if (action === undefined) throw new Error('expected a fault with fail, bytes, delayMs or forget');
  const value = action === 'fail' ? constants.errno[fault.fail ?? 'EIO'] : Number(fault[action]);
  return `${slot} ${calls.join(',')} ${join(root, path)} ${actions[action]} ${value} ${skip} ${times}\n`;
}
