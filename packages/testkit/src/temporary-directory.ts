/** A directory for one test, removed after it: `await using directory = await temporaryDirectory()`. */
import { mkdtemp, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface TemporaryDirectory extends AsyncDisposable {
  readonly path: string;
  /** A path inside. */
  file(name: string): string;
}

export async function temporaryDirectory(prefix = 'platform-test-'): Promise<TemporaryDirectory> {
  return directoryOf(await mkdtemp(join(tmpdir(), prefix)));
}

/**
 * In memory if the system supports that: for tests in which waiting for a disk proves nothing.
 * @param leastFreeBytes of the memory; containers often have 64 MB. Default: any.
 */
export async function memoryDirectory(prefix = 'platform-test-', leastFreeBytes = 0): Promise<TemporaryDirectory> {
  return directoryOf(await mkdtemp(join((await hasMemory(leastFreeBytes)) ? memory : tmpdir(), prefix)));
}

/** A folder in memory, where `hasMemory`. */
export const memory = '/dev/shm';

export async function hasMemory(leastFreeBytes: number): Promise<boolean> {
  return statfs(memory).then(
    ({ bavail, bsize }) => bavail * bsize >= leastFreeBytes,
    () => false,
  );
}

function directoryOf(path: string): TemporaryDirectory {
  return {
    path,
    file: (name) => join(path, name),
    async [Symbol.asyncDispose]() {
      await rm(path, { recursive: true, force: true });
    },
  };
}
