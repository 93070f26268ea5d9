/** A directory for one test, removed after it: `await using directory = await temporaryDirectory()`. */
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
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

/** In memory if the system supports that: for tests of thousands of rounds in which waiting for a disk proves nothing. */
export async function memoryDirectory(prefix = 'platform-test-'): Promise<TemporaryDirectory> {
  const memory = '/dev/shm';
  return directoryOf(await mkdtemp(join(existsSync(memory) ? memory : tmpdir(), prefix)));
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
