/**
 * Files below folders into which other accounts may write (D51). Such an account can replace a folder by a link between two steps of ours,
 * so that a path leads elsewhere in the second one. So a configured folder is resolved once in a run, and what is below it is reached
 * through an open folder: it is opened, the system says which folder was opened (`/proc/self/fd`), and a name in it is used through that
 * door, which no link can move. Where the system has no such door, a folder is refused if other accounts may write it or one above it.
 */
import { type BigIntStats, constants } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, readlink, realpath, rmdir } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { failedPrecondition, PlatformError } from '@platform/base';
import { keepNew, makeDirectory } from './make-directory.ts';

/** An open folder. */
export interface Folder extends AsyncDisposable {
  /** For people, and for `inFolder`. */
  readonly path: string;
  stats(): Promise<BigIntStats>;
  /** Usable while the folder is open, whatever happens to its path. @param name of an item in it; default: the folder itself */
  at(name?: string): string;
  /** Makes the names in it durable across a power failure. */
  sync(): Promise<void>;
}

export interface InFolderOptions {
  /** Whether missing folders are made (0700), durably. Default false. */
  readonly makes?: boolean;
}

const door = '/proc/self/fd';
/** Where each configured folder was when it was first opened, by its configured path. */
const resolved = new Map<string, Promise<string>>();

/** The path of a configured folder without links, as it was when this process first asked. @throws the system's error if it does not exist */
export function resolveFolder(path: string): Promise<string> {
  const known = resolved.get(path) ?? resolve(path);
  resolved.set(path, known);
  known.catch(() => resolved.delete(path));
  return known;
}

async function resolve(path: string): Promise<string> {
  await using handle = await open(path, constants.O_RDONLY | constants.O_DIRECTORY);
  const real = (await realPathOf(handle)) ?? (await realpath(path));
  // A caller may go on with this path, which somebody may replace by a link before that.
  if (!resolved.has(real)) resolved.set(real, Promise.resolve(real));
  return real;
}

/**
 * Opens a folder that is a configured one or below it.
 *
 * @param root the configured folder. @throws an error with code ELOOP if the path contains a link below it, or replaced by one;
 *   failed_precondition where the system has no door and others may write
 */
export async function openFolder(path: string, root: string): Promise<Folder> {
  const below = relative(root, path);
  const [first] = below.split(sep);
  if (first === '..') throw new PlatformError('internal', `${path} is not below ${root}`);
  const real = join(await resolveFolder(root), below);
  const handle = await open(real, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW).catch(
    asLink(path),
  );
  try {
    const found = await realPathOf(handle);
    if (found === undefined) await requireOwnOnly(real, await resolveFolder(root));
    else if (found === `${real} (deleted)`) throw Object.assign(new Error(`${path} was deleted`), { code: 'ENOENT' });
    else if (found !== real) throw throughLink(path);
    const own = found === undefined ? real : `${door}/${handle.fd}`;
    return {
      path,
      stats: () => handle.stat({ bigint: true }),
      at: (name = '') => join(own, name),
      sync: () => handle.sync(),
      [Symbol.asyncDispose]: () => handle.close(),
    };
  } catch (caught) {
    await handle.close();
    throw caught;
  }
}

/**
 * Does something with one item below a configured folder.
 *
 * @param path of the item. @param run gets a path that leads to it, and its folder. @throws as `openFolder`; what `run` throws, with `path`
 */
export async function inFolder<T>(
  path: string,
  root: string,
  run: (at: string, folder: Folder) => Promise<T>,
  options: InFolderOptions = {},
): Promise<T> {
  const parent = dirname(path);
  await using folder = await openFolder(parent, root).catch(async (caught: NodeJS.ErrnoException) => {
    if (options.makes !== true || caught.code !== 'ENOENT') throw caught;
    if (parent === root) await makeDirectory(await resolveFolder(root).catch(() => root));
    else await inFolder(parent, root, makeUnlessThere, options);
    return openFolder(parent, root);
  });
  try {
    return await run(folder.at(basename(path)), folder);
  } catch (caught) {
    throw renamed(caught, folder);
  }
}

async function makeUnlessThere(at: string, folder: Folder): Promise<void> {
  try {
    await mkdir(at, { mode: 0o700 });
  } catch (caught) {
    if ((caught as NodeJS.ErrnoException).code === 'EEXIST') return;
    throw caught;
  }
  await keepNew(folder.sync, () => rmdir(at));
}

/** Undefined where the system does not say it. */
async function realPathOf({ fd }: FileHandle): Promise<string | undefined> {
  return process.platform === 'linux' ? readlink(`${door}/${fd}`).catch(() => undefined) : undefined;
}

/** For systems without the door: nobody else may put a link anywhere on the way to this folder. @param root the configured folder */
export async function requireOwnOnly(real: string, root: string): Promise<void> {
  if (process.platform === 'win32') return;
  const own = [0, process.geteuid?.() ?? 0];
  for (let at = real, isAbove = false; ; at = dirname(at)) {
    const { uid, mode } = await lstat(at);
    // In a folder with the sticky bit, such as /tmp, nobody can rename or remove what is another account's.
    const isOpen = (mode & 0o022) !== 0 && !(isAbove && (mode & 0o1000) !== 0);
    const writableByOthers = !own.includes(uid) || isOpen;
    if (writableByOthers)
      throw failedPrecondition(
        `${at}: expected a folder that only this account may write, because this system cannot keep others from replacing what is in it by links`,
      );
    if (dirname(at) === at) return;
    isAbove ||= at === root;
  }
}

function asLink(path: string): (caught: NodeJS.ErrnoException) => Promise<never> {
  return async (caught) => {
    if (caught.code !== 'ELOOP' && caught.code !== 'ENOTDIR') throw caught;
    throw throughLink(path);
  };
}

function throughLink(path: string): Error {
  const text = `${path}: expected a folder, found a link or something else in its place or above it: links below a configured folder are not followed, and one that replaces the folder itself only after a restart`;
  return Object.assign(new Error(text), { code: 'ELOOP' });
}

/** Errors name paths, not doors. */
function renamed(caught: unknown, folder: Folder): unknown {
  if (caught instanceof Error) caught.message = caught.message.replaceAll(folder.at(), folder.path);
  return caught;
}

/** Passes over these errors of the system. */
export function unless(...codes: readonly string[]): (caught: NodeJS.ErrnoException) => undefined {
  return (caught) => {
    if (!codes.includes(caught.code ?? '')) throw caught;
  };
}
