import { mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { CaptureStorage } from '@platform/capture-file';

/** Directories whose own names survive a power failure; at most one per captured method. */
const named = new Set<string>();

/** Capture files on the computer's disk. */
export const diskStorage: CaptureStorage = {
  async create(path) {
    const handle = await open(path, 'wx', 0o600).catch(async (caught: NodeJS.ErrnoException) => {
      if (caught.code !== 'ENOENT') throw caught;
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      named.delete(dirname(path));
      return open(path, 'wx', 0o600);
    });
    return {
      async write(bytes, position) {
        for (let done = 0; done < bytes.length; ) {
          const { bytesWritten } = await handle.write(bytes, done, bytes.length - done, position + done);
          done += bytesWritten;
        }
      },
      sync: () => handle.datasync(),
      close: () => handle.close(),
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
