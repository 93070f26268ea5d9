import { mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { CaptureStorage } from '@platform/capture-file';
import { callTurns, syncTurns } from './disk-turns.ts';

/** Directories whose own names survive a power failure; at most one per captured method. */
const named = new Set<string>();

/** Capture files below a directory of the computer's disk. */
export function diskStorage(directory: string): CaptureStorage {
  const [call, sync] = [callTurns.of(directory), syncTurns.of(directory)];
  return {
    async create(path) {
      const handle = await call(() => createFile(path));
      return {
        write: (bytes, position) =>
          call(async () => {
            for (let done = 0; done < bytes.length; ) {
              const { bytesWritten } = await handle.write(bytes, done, bytes.length - done, position + done);
              done += bytesWritten;
            }
          }),
        sync: () => sync(() => handle.datasync()),
        close: () => call(() => handle.close()),
      };
    },
    read: (path) => call(() => readFile(path)),
    async rename(from, to) {
      await call(() =>
        rename(from, to).catch(async (caught: NodeJS.ErrnoException) => {
          if (caught.code !== 'ENOENT' || !(await exists(to))) throw caught;
        }),
      );
      await sync(() => syncDirectory(dirname(to)));
    },
    syncName: (path) => sync(() => syncName(path)),
    remove: (path) => call(() => rm(path, { force: true })),
  };
}

async function createFile(path: string) {
  return open(path, 'wx', 0o600).catch(async (caught: NodeJS.ErrnoException) => {
    if (caught.code !== 'ENOENT') throw caught;
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    named.delete(dirname(path));
    return open(path, 'wx', 0o600);
  });
}

async function syncName(path: string): Promise<void> {
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
