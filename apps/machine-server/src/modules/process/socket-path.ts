/** The paths of a module's sockets. */
import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newShortId } from '@platform/base';

/** The longest path of a Unix socket on every system that modules run on. */
const maxPathLength = 103;
const suffixLength = 6;

export interface SocketDirectory extends AsyncDisposable {
  readonly parentPath: string;
  /** A path for a new process of the module, which no earlier process used. */
  next(): string;
}

/** A new directory that only this user may enter. @param root default: the temporary directory, or `/tmp` if that path is too long */
export async function openSocketDirectory(name: string, root: string = tmpdir()): Promise<SocketDirectory> {
  const prefix = 'platform-module-';
  const isTooLong = join(root, `${prefix}abcdef`, `12345-${'x'.repeat(suffixLength)}.sock`).length > maxPathLength;
  // mkdtemp creates it with mode 0700.
  const directory = await mkdtemp(join(isTooLong ? '/tmp' : root, prefix));
  return {
    parentPath: join(directory, 'parent.sock'),
    next: () => join(directory, socketName(name, maxPathLength - directory.length - 1)),
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }),
  };
}

/** A long name is truncated, and gets a checksum of the whole name. */
function socketName(name: string, maxLength: number): string {
  const end = `-${newShortId().slice(0, suffixLength - 1)}.sock`;
  const room = maxLength - end.length;
  if (name.length <= room) return `${name}${end}`;
  const sum = createHash('sha256').update(name).digest('hex').slice(0, 5);
  return `${name.slice(0, Math.max(0, room - sum.length))}${sum}${end}`;
}
