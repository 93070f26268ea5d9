/**
 * `-shareddir`: the files of one directory at `/static/`. Nothing outside it is served: no `..`, no links that lead out of it, and no names
 * that begin with a dot. A directory is its `index.html`.
 */
import { constants, createReadStream } from 'node:fs';
import { open, realpath, stat } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';
import { PlatformError } from '@platform/base';
import type { File } from './answer.ts';

/** @param path the part of the address after `/static/`, still encoded. @returns undefined if there is no such file */
export type SharedFiles = (path: string) => Promise<File | undefined>;

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.csv': 'text/csv; charset=utf-8',
  '.gif': 'image/gif',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.jpeg': 'image/jpeg',
  '.jpg': 'image/jpeg',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.mjs': 'text/javascript; charset=utf-8',
  '.mp4': 'video/mp4',
  '.pdf': 'application/pdf',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.wasm': 'application/wasm',
  '.webp': 'image/webp',
  '.woff2': 'font/woff2',
};

/** @throws PlatformError if it is not a directory */
export async function shareDirectory(directory: string): Promise<SharedFiles> {
  const found = await stat(directory).catch(() => undefined);
  if (found?.isDirectory() !== true)
    throw new PlatformError(
      'invalid_argument',
      `option -shareddir: expected a directory, found ${found === undefined ? 'nothing' : 'something else'} at ${directory}`,
    );
  return async (path) => {
    const names = namesIn(path);
    if (names === undefined) return undefined;
    const root = await realpath(directory);
    const target = await resolved(join(root, ...names));
    return target !== undefined && isBelow(root, target) ? fileAt(target) : undefined;
  };
}

function namesIn(path: string): string[] | undefined {
  let text: string;
  try {
    text = decodeURIComponent(path);
  } catch {
    return undefined;
  }
  const names = text.split('/');
  // A slash at the end means the directory.
  if (names.at(-1) === '') names.pop();
  return names.every((name) => /^[^./\\\0][^/\\\0]*$/.test(name)) ? names : undefined;
}

/** The path with links resolved: that of the index if it is a directory. */
async function resolved(path: string): Promise<string | undefined> {
  try {
    const real = await realpath(path);
    return (await stat(real)).isDirectory() ? await realpath(join(real, 'index.html')) : real;
  } catch {
    return undefined;
  }
}

function isBelow(root: string, target: string): boolean {
  const names = relative(root, target).split(sep);
  return names.every((name) => !name.startsWith('.') && name !== '');
}

async function fileAt(path: string): Promise<File | undefined> {
  // A link that has meanwhile replaced the file is refused, as is a pipe, which would wait for its writer.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const handle = await open(path, flags).catch(() => undefined);
  if (handle === undefined) return undefined;
  const found = await handle.stat();
  await handle.close();
  if (!found.isFile()) return undefined;
  const type = types[extname(path).toLowerCase()] ?? 'application/octet-stream';
  return { type, bytes: found.size, open: () => createReadStream(path, { end: Math.max(found.size - 1, 0) }) };
}
