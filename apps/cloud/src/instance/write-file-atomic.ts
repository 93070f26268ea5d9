import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** Writes a small file completely or not at all, even after a power cut or on a full disk; mode 0600. */
export function writeFileAtomic(path: string, content: string): void {
  const draft = `${path}.${process.pid}.new`;
  try {
    const handle = openSync(draft, 'w', 0o600);
    try {
      // Unlike writeSync, it continues after a short write, and thus reports the full disk that caused it.
      writeFileSync(handle, content);
      fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
    renameSync(draft, path);
  } catch (caught) {
    rmSync(draft, { force: true });
    throw caught;
  }
  syncDirectory(dirname(path));
}

function syncDirectory(path: string): void {
  const handle = openSync(path, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
