/** A directory for one test, removed after it: `await using directory = await temporaryDirectory()`. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface TemporaryDirectory extends AsyncDisposable {
  readonly path: string;
  /** A path inside. */
  file(name: string): string;
}

export async function temporaryDirectory(prefix = 'platform-test-'): Promise<TemporaryDirectory> {
  const path = await mkdtemp(join(tmpdir(), prefix));
  return {
    path,
    file: (name) => join(path, name),
    async [Symbol.asyncDispose]() {
      await rm(path, { recursive: true, force: true });
    },
  };
}
