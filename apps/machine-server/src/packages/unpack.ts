/**
 * Unpacks a `.tar.gz` into a new folder. Nothing is written outside it: paths and link targets that lead out are refused, as are entries
 * that would be written through a link. Owners and special bits are ignored.
 */
import { createReadStream, createWriteStream } from 'node:fs';
import { link, lstat, mkdir, symlink } from 'node:fs/promises';
import { dirname, isAbsolute, join, normalize, relative } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { invalidArgument, type PlatformError, resourceExhausted } from '@platform/base';
import { readTar, type TarEntry } from './read-tar.ts';

const mostBytes = 16 * 1024 ** 3;
const mostEntries = 500_000;

export interface UnpackLimits {
  /** Of all files together. Default 16 GiB. */
  readonly maxBytes?: number;
  /** Default 500,000. */
  readonly maxEntries?: number;
}

/** @throws invalid_argument, data_loss or resource_exhausted with the entry; the folder may then contain a part of the archive */
export async function unpack(archive: string, folder: string, limits: UnpackLimits = {}): Promise<void> {
  const { maxBytes = mostBytes, maxEntries = mostEntries } = limits;
  let bytes = 0;
  let entries = 0;
  await mkdir(folder, { recursive: true, mode: 0o755 });
  const file = createReadStream(archive);
  const gunzip = createGunzip();
  const unzipped = pipeline(file, gunzip);
  // Awaited below; the loop also throws its error.
  unzipped.catch(() => {});
  await readTar(gunzip, async (entry, content) => {
    bytes += entry.size;
    if (bytes > maxBytes) throw tooMuch(`expected files of at most ${maxBytes} bytes together`, entry);
    if (++entries > maxEntries) throw tooMuch(`expected at most ${maxEntries} entries`, entry);
    await write(folder, entry, content);
  });
  // After the last entry there is only padding.
  gunzip.resume();
  await unzipped;
}

async function write(folder: string, entry: TarEntry, content: AsyncIterable<Uint8Array>): Promise<void> {
  const path = inside(folder, entry.path, entry.path);
  if (path === folder) return;
  await makeParents(folder, dirname(path), entry.path);
  switch (entry.kind) {
    case 'directory':
      await makeParents(folder, path, entry.path);
      return;
    case 'file': {
      // `wx` follows no link, and replaces nothing.
      const stream = createWriteStream(path, { flags: 'wx', mode: entry.isExecutable ? 0o755 : 0o644 });
      await pipeline(Readable.from(content, { objectMode: false }), stream);
      return;
    }
    case 'link':
      await link(inside(folder, entry.target, entry.path), path);
      return;
    case 'symlink':
      // `..` after another step could leave the folder through another link.
      if (isAbsolute(entry.target) || normalize(entry.target) !== entry.target.replace(/^\.\/(?=.)/, ''))
        throw leadsOut(entry.path, entry.target);
      inside(folder, relative(folder, join(dirname(path), entry.target)), entry.path);
      await symlink(entry.target, path);
  }
}

/** Makes all folders of this path. @throws if one of them is a link or a file */
async function makeParents(folder: string, path: string, entry: string): Promise<void> {
  if (path === folder) return;
  await makeParents(folder, dirname(path), entry);
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined) await mkdir(path, { mode: 0o755 });
  else if (!found.isDirectory()) throw invalidArgument(`expected a folder for ${entry}, found a file or a link`);
}

/** The path in the folder. */
function inside(folder: string, path: string, entry: string): string {
  const full = join(folder, path);
  const steps = relative(folder, full).split('/');
  if (isAbsolute(path) || path.includes('\0') || steps[0] === '..') throw leadsOut(entry, path);
  return full.endsWith('/') ? full.slice(0, -1) : full;
}

function leadsOut(entry: string, path: string): PlatformError {
  const text = `expected paths inside the archive, found ${JSON.stringify(path)} in the entry ${JSON.stringify(entry)}`;
  return invalidArgument(text);
}

function tooMuch(expected: string, { path }: TarEntry): PlatformError {
  return resourceExhausted(`${expected}, found more with ${JSON.stringify(path)}`);
}
