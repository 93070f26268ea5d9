/** The files of this computer that are copied to a machine. */
import { constants } from 'node:fs';
import { type FileHandle, open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { invalidArgument, notFound, permissionDenied, unavailable } from '@platform/base/refusals';
import type { PlatformError } from '@platform/sdk/cloud';
import type { CopiedFile } from '@platform/sdk/machine';

const pieceBytes = 256 * 1024;

export interface LocalFilesOptions {
  /** Called with what is left out, and why. */
  readonly onLeftOut: (path: string, why: string) => void;
  /** Called before a file or folder is read. */
  readonly onFile: (path: string) => void;
}

/**
 * A file, or a folder and everything in it, each folder before what it contains. Links are followed, except to a folder that contains them;
 * pipes, sockets and devices are left out.
 */
export async function* localFiles(root: string, { onLeftOut, onFile }: LocalFilesOptions): AsyncGenerator<CopiedFile> {
  const waiting: { readonly path: readonly string[]; readonly above: readonly string[] }[] = [{ path: [], above: [] }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { path, above } = next;
    const full = join(root, ...path);
    const found = await statOf(full);
    const own = `${found.dev}:${found.ino}`;
    const described = {
      ...{ path, size: found.isFile() ? found.size : 0, mode: found.mode & 0o777 },
      modifiedMs: Math.floor(found.mtimeMs),
    };
    if (found.isDirectory()) {
      if (above.includes(own)) {
        onLeftOut(full, 'it leads back to a folder that contains it');
        continue;
      }
      onFile(full);
      yield { ...described, isFolder: true, content: nothing() };
      const names = await readdir(full).catch(failing(full));
      for (const name of names.toSorted().toReversed()) waiting.push({ path: [...path, name], above: [...above, own] });
    } else if (found.isFile()) {
      onFile(full);
      yield { ...described, isFolder: false, content: contentOf(full) };
    } else onLeftOut(full, 'it is neither a file nor a folder');
  }
}

/** @throws invalid_argument for a folder without `isRecursive`. @returns whether it is a folder */
export async function requireCopyable(path: string, isRecursive: boolean): Promise<boolean> {
  const found = await statOf(path);
  if (found.isDirectory() && !isRecursive)
    throw invalidArgument(`${path}: expected a file, found a folder; add -r to copy folders`);
  if (!found.isDirectory() && !found.isFile()) throw invalidArgument(`${path}: expected a file or a folder`);
  return found.isDirectory();
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

async function* contentOf(path: string): AsyncGenerator<Uint8Array> {
  // It may have become a pipe, which must not be waited for.
  await using file: FileHandle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch(failing(path));
  for (;;) {
    const { bytesRead, buffer } = await file.read(new Uint8Array(pieceBytes), 0, pieceBytes).catch(failing(path));
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
  }
}

function statOf(path: string) {
  return stat(path).catch(failing(path));
}

/** Explains a failed system call. */
export function failing(path: string): (caught: unknown) => never {
  return (caught) => {
    throw explained(path, caught);
  };
}

function explained(path: string, caught: unknown): PlatformError {
  const code = String(Reflect.get(Object(caught), 'code'));
  if (code === 'ENOENT') return notFound(`${path}: it does not exist; correct the path`, caught);
  if (code === 'EACCES' || code === 'EPERM') return permissionDenied(`${path}: permission denied`, caught);
  if (code === 'ENOTDIR' || code === 'EEXIST' || code === 'EISDIR')
    return invalidArgument(`${path}: expected a folder where there is a file, or the reverse (${code})`, caught);
  return unavailable(`${path}: the system refused it (${code})`, caught);
}
