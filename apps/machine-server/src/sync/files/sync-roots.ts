/** Decides which of the `additional_sync_paths` are walked, and which folders below them are not. */
import { realpath } from 'node:fs/promises';
import { basename, dirname, join, sep } from 'node:path';
import { errorText, failedPrecondition } from '@platform/base';
import { resolveFolder } from '../../directories/folder.ts';
import { makeDirectory } from '../../directories/make-directory.ts';

export interface SyncRoots {
  /** Real paths, none inside another. */
  readonly roots: readonly string[];
  /** Real paths of folders that are not entered: they belong to this machine-server. */
  readonly skipped: ReadonlySet<string>;
  /** Problems of the other paths. */
  readonly faults: readonly string[];
}

/**
 * @param paths absolute, as configured: a link to a folder is followed, once in a run
 * @param captureDirectories their files are sent as readings, never as files
 * @param home PLATFORM_HOME: not sent as part of a larger folder, because it contains credentials; a folder in it may be configured
 * @param allowed see SyncSettings
 */
export async function syncRoots(
  paths: readonly string[],
  captureDirectories: readonly string[],
  home: string,
  allowed?: readonly string[],
): Promise<SyncRoots> {
  const faults: string[] = [];
  const captured = await Promise.all(captureDirectories.map(real));
  const ownHome = await real(home);
  const found: string[] = [];
  for (const path of paths) {
    try {
      const root = await resolveFolder(path);
      const inside = captured.find((directory) => isIn(root, directory));
      if (!(await isAllowed(root, allowed))) faults.push(outsideAllowed(path));
      else if (inside !== undefined) faults.push(`${path} is in the capture directory ${inside}`);
      else if (root === dirname(root)) faults.push(`${path} is the whole disk: name the folders to sync`);
      else if (root === ownHome)
        faults.push(`${path} is PLATFORM_HOME, which contains credentials: name a folder in it`);
      else found.push(root);
    } catch (caught) {
      const isOther = (caught as NodeJS.ErrnoException).code === 'ENOTDIR';
      faults.push(isOther ? `${path} is not a folder` : `${path} cannot be read: ${errorText(caught)}`);
    }
  }
  const unique = [...new Set(found)];
  const roots = unique.filter((root) => !unique.some((other) => other !== root && isIn(root, other)));
  return { roots, skipped: new Set([...captured, ownHome]), faults };
}

/**
 * The folder into which sent files are moved, without links: what is checked here is what is used, even if somebody then puts a link in its
 * place. It is made if there is none.
 *
 * @throws failed_precondition if it is outside of the allowed folders; the system's error
 */
export async function moveTarget(path: string, allowed: readonly string[] | undefined): Promise<string> {
  const refused = failedPrecondition(outsideAllowed(path));
  // Nothing is made elsewhere.
  if (!(await isAllowed(path, allowed))) throw refused;
  await makeDirectory(path);
  const target = await resolveFolder(path);
  if (await isAllowed(target, allowed)) return target;
  throw refused;
}

/** Whether a path leads into one of the folders, links considered; those in the paths of the folders as they were first. */
async function isAllowed(path: string, folders: readonly string[] | undefined): Promise<boolean> {
  if (folders === undefined) return true;
  const target = await realTarget(path);
  const inside = await Promise.all(folders.map((folder) => resolveFolder(folder).catch(() => realTarget(folder))));
  return inside.some((folder) => isIn(target, folder));
}

export function outsideAllowed(path: string): string {
  return `-untrusted-env does not allow ${path}: "allowed_sync_folders" in the file of -config names no folder that contains it`;
}

/** Where the path leads, even if its last parts do not exist yet. */
async function realTarget(path: string): Promise<string> {
  return realpath(path).catch(async () =>
    dirname(path) === path ? path : join(await realTarget(dirname(path)), basename(path)),
  );
}

/** Whether `path` is `directory` or below it. */
export function isIn(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory.endsWith(sep) ? directory : directory + sep);
}

async function real(path: string): Promise<string> {
  return realpath(path).catch(() => path);
}
