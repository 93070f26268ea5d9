import { type FileHandle, lstat, open, rename, rm } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import type { CaptureStorage } from '@platform/capture-file';
import { callTurns, syncTurns } from './disk-turns.ts';
import { inFolder, openFolder, unless } from './folder.ts';
import { readBelow } from './open-below.ts';
import { syncDirectory } from './sync-directory.ts';

/** Directories whose own names survive a power failure; at most one per captured method. */
const named = new Set<string>();

/** Capture files below a directory of the computer's disk. */
export function diskStorage(directory: string): CaptureStorage {
  const [call, sync] = [callTurns.of(directory), syncTurns.of(directory)];
  return {
    async create(path) {
      const handle = await call(() => createFile(path, directory));
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
    read: (path) => call(() => readBelow(path, directory)),
    async rename(from, to) {
      await call(() => inFolder(to, directory, (at, folder) => renameFile(folder.at(basename(from)), at)));
      // A file that is sealed at once, such as a camera's, is the first to name its folders.
      await sync(() => syncName(to, directory));
    },
    syncName: (path) => sync(() => syncName(path, directory)),
    remove: (path) => call(() => inFolder(path, directory, (at) => rm(at, { force: true })).catch(unless('ENOENT'))),
  };
}

async function createFile(path: string, directory: string): Promise<FileHandle> {
  const make = (makes: boolean) => inFolder(path, directory, (at) => open(at, 'wx', 0o600), { makes });
  return make(false).catch((caught: NodeJS.ErrnoException) => {
    if (caught.code !== 'ENOENT') throw caught;
    named.delete(dirname(path));
    return make(true);
  });
}

async function renameFile(from: string, to: string): Promise<void> {
  await rename(from, to).catch(async (caught: NodeJS.ErrnoException) => {
    if (caught.code !== 'ENOENT' || !(await exists(to))) throw caught;
  });
}

async function syncName(path: string, directory: string): Promise<void> {
  const folder = dirname(path);
  await syncFolder(folder, directory);
  if (named.has(folder)) return;
  let isBelow = folder !== directory;
  for (let at = folder; dirname(at) !== at; ) {
    at = dirname(at);
    // This account cannot have created a directory that it cannot list.
    await (isBelow ? syncFolder(at, directory) : syncDirectory(at)).catch(unless('EACCES', 'EPERM'));
    isBelow &&= at !== directory;
  }
  named.add(folder);
}

async function syncFolder(path: string, directory: string): Promise<void> {
  await using folder = await openFolder(path, directory);
  await folder.sync();
}

/** Whether the path names something, even a broken link. */
export async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
