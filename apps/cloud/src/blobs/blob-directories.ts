/**
 * The directories of payloads: each is durable before a payload is named in it (I4).
 *
 * Whether an earlier process has made a directory durable is unknown, so each is synced when this process first uses it. After a failed
 * sync, no later one would write the name (I14), so a new directory is removed again.
 */
import { mkdir, rmdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { syncPath } from '../instance/sync-path.ts';

/** Directories that are not synced again; each entry costs about 200 bytes. */
const maxKnown = 20_000;

/** @param root exists. @returns a function that makes a directory below it */
export function createBlobDirectories(root: string): (directory: string) => Promise<void> {
  const durable = new Set<string>();
  /** One after the other, so that nothing is made in a directory that may be removed again. */
  let last: Promise<unknown> = Promise.resolve();

  const make = async (directory: string): Promise<void> => {
    const first = await mkdir(directory, { recursive: true });
    const levels = upTo(directory, root);
    const isNew = (level: string): boolean => first !== undefined && level.length >= first.length;
    for (const level of levels.filter(isNew)) durable.delete(level);
    const unsynced = levels.filter((level) => !durable.has(level));
    try {
      for (const level of unsynced) await syncPath(dirname(level));
    } catch (caught) {
      // If one cannot be removed, neither can those above it.
      for (const level of levels.filter(isNew)) await rmdir(level).catch(() => {});
      throw caught;
    }
    if (durable.size > maxKnown) durable.clear();
    for (const level of levels) durable.add(level);
  };

  return (directory) => {
    const made = last.then(() => make(directory));
    last = made.catch(() => {});
    return made;
  };
}

/** The directory and those above it, below `root`; the deepest first. */
function upTo(directory: string, root: string): readonly string[] {
  return directory === root || directory === dirname(directory) ? [] : [directory, ...upTo(dirname(directory), root)];
}
