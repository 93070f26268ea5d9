import { close, fdatasync, open as openDescriptor, write } from 'node:fs';
import { mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import type { CaptureStorage } from '@platform/capture-file';

/** Directories whose own names survive a power failure; at most one per captured method. */
const named = new Set<string>();

// Some hundred files are written at once, more than twice a second: with a FileHandle, each write takes three times as long on this thread.
const [openFile, syncData, closeFile] = [promisify(openDescriptor), promisify(fdatasync), promisify(close)];

/** Capture files on the computer's disk. */
export const diskStorage: CaptureStorage = {
  async create(path) {
    const made = await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    if (made !== undefined) named.delete(dirname(path));
    const descriptor = await openFile(path, 'wx', 0o600);
    return {
      write: (bytes, position) => writeAll(descriptor, bytes, position),
      sync: () => syncData(descriptor),
      close: () => closeFile(descriptor),
    };
  },
  read: (path) => readFile(path),
  async rename(from, to) {
    await rename(from, to).catch(async (caught: NodeJS.ErrnoException) => {
      if (caught.code !== 'ENOENT' || !(await exists(to))) throw caught;
    });
    await syncDirectory(dirname(to));
  },
  async syncName(path) {
    const directory = dirname(path);
    await syncDirectory(directory);
    if (named.has(directory)) return;
    for (let at = dirname(directory); ; at = dirname(at)) {
      await syncDirectory(at).catch((caught: NodeJS.ErrnoException) => {
        // This account cannot have created a directory that it cannot list.
        if (caught.code !== 'EACCES' && caught.code !== 'EPERM') throw caught;
      });
      if (dirname(at) === at) break;
    }
    named.add(directory);
  },
  remove: (path) => rm(path, { force: true }),
};

function writeAll(descriptor: number, bytes: Uint8Array, position: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const from = (done: number): void =>
      write(descriptor, bytes, done, bytes.length - done, position + done, (failed, written) => {
        if (failed) reject(failed);
        else if (done + written < bytes.length) from(done + written);
        else resolve();
      });
    from(0);
  });
}

/** Makes the names in a directory durable across a power failure. */
export async function syncDirectory(path: string): Promise<void> {
  await using handle = await open(path, 'r');
  await handle.sync();
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
