/**
 * `-shareddir`: the files of one directory at `/static/`. Nothing outside it is served: no `..`, no links (D51), and no names that begin
 * with a dot. A directory is its `index.html`.
 */
import { stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { invalidArgument } from '@platform/base';
import { openFolder } from '../../directories/folder.ts';
import { openBelow } from '../../directories/open-below.ts';
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
    throw invalidArgument(
      `option -shareddir: expected a directory, found ${found === undefined ? 'nothing' : 'something else'} at ${directory}`,
    );
  return async (path) => {
    const names = namesIn(path);
    if (names === undefined) return undefined;
    const target = join(directory, ...names);
    return fileAt((await isFolder(target, directory)) ? join(target, 'index.html') : target, directory);
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

async function isFolder(path: string, directory: string): Promise<boolean> {
  await using folder = await openFolder(path, directory).catch(() => undefined);
  return folder !== undefined;
}

/** What is sent is what was opened, whatever happens to its name meanwhile. */
async function fileAt(path: string, directory: string): Promise<File | undefined> {
  const file = await openBelow(path, directory).catch(() => undefined);
  return (
    file && {
      type: types[extname(path).toLowerCase()] ?? 'application/octet-stream',
      bytes: file.size,
      open: () => file.handle.createReadStream({ start: 0, end: Math.max(file.size - 1, 0) }),
      [Symbol.asyncDispose]: () => file[Symbol.asyncDispose](),
    }
  );
}
