/**
 * A disk of a few megabytes for one process, which the test fills and empties: a real one, or a layer in the process if none can be
 * mounted.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statfsSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ChildProcess, spawnChild } from '../process.ts';
import { bytesBelow } from './bytes-below.ts';

/** A disk on which a test starts processes. */
export interface ProcessDisk extends AsyncDisposable {
  /** Its path in the process. */
  readonly path: string;
  /** Its path for the test while the process runs. */
  readonly inside: string;
  /** Starts node on it. */
  spawn(args: readonly string[], env: Readonly<Record<string, string>>): ChildProcess;
}

/** Starts node once: a mounted disk is gone after the process. */
export interface SmallDisk extends ProcessDisk {
  /** Fills it with other data, except for `leftBytes`. */
  fill(leftBytes: number): void;
  /** Removes the other data. */
  empty(): void;
}

const layer = fileURLToPath(new URL('./file-layer.ts', import.meta.url));
const blockBytes = 65_536;

/** Why no disk can be mounted here; undefined if one can. */
export function mountFault(): string | undefined {
  const script = `mount -t tmpfs -o size=1m none "$0"`;
  const { status, stderr, error } = spawnSync('unshare', ['-rm', 'sh', '-c', script, tmpdir()], { encoding: 'utf8' });
  return status === 0 ? undefined : String(error ?? stderr).trim();
}

/** A tmpfs in a separate namespace, which ends with the process. */
export function mountedDisk(bytes: number): SmallDisk {
  const path = mkdtempSync(join(tmpdir(), 'mounted-disk-'));
  const script = `mount -t tmpfs -o size=${bytes} none "$1" && shift && exec "$0" "$@"`;
  let child: ChildProcess | undefined;
  const inside = (): string => join('/proc', String(child?.pid), 'root', path);
  const others = (): string => join(inside(), 'others');
  return {
    path,
    get inside() {
      return inside();
    },
    spawn(args, env) {
      child = spawnChild('unshare', ['-rm', 'sh', '-c', script, process.execPath, path, ...args], { env });
      return child;
    },
    fill(leftBytes) {
      const blocks = Buffer.alloc(16 * blockBytes);
      for (;;) {
        const { bavail, bsize } = statfsSync(inside());
        const more = Math.min(blocks.length, bavail * bsize - leftBytes);
        if (more <= 0 || !appended(others(), blocks.subarray(0, more))) return;
      }
    },
    empty: () => rmSync(others(), { force: true }),
    async [Symbol.asyncDispose]() {
      await child?.[Symbol.asyncDispose]();
      rmSync(path, { recursive: true, force: true });
    },
  };
}

/** False if it is full. */
function appended(path: string, bytes: Uint8Array): boolean {
  try {
    writeFileSync(path, bytes, { flag: 'a' });
    return true;
  } catch (caught) {
    if ((caught as NodeJS.ErrnoException).code === 'ENOSPC') return false;
    throw caught;
  }
}

/** A folder that looks like a disk to a process, because its writes go through `file-layer.ts`. */
export interface LayeredDisk extends SmallDisk {
  /** Environment that makes it a disk for a process that the caller starts. */
  readonly env: Readonly<Record<string, string>>;
}

export function layeredDisk(bytes: number): LayeredDisk {
  const folder = mkdtempSync(join(tmpdir(), 'layered-disk-'));
  const path = mkdtempSync(join(folder, 'disk-'));
  const others = join(folder, 'others');
  writeFileSync(others, '');
  const disk = { SMALL_DISK: path, SMALL_DISK_BYTES: String(bytes), SMALL_DISK_OTHERS: others };
  let child: ChildProcess | undefined;
  return {
    ...{ path, inside: path, env: { ...disk, NODE_OPTIONS: `--import=${layer}` } },
    spawn(args, env) {
      child = spawnChild(process.execPath, ['--import', layer, ...args], { env: { ...env, ...disk } });
      return child;
    },
    fill: (leftBytes) => truncateSync(others, Math.max(0, bytes - bytesBelow(path) - leftBytes)),
    empty: () => truncateSync(others, 0),
    async [Symbol.asyncDispose]() {
      await child?.[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
