/** Keeps builds of bundles: one process builds at a time, and only whole builds are used. */
import { mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Earlier } from './build-changed.ts';
import { currentBundles, isSame, keptIn, newestBuild, stampOf } from './find-bundles.js';

/**
 * Builds into the folder, and returns the files that went into the build, relative to the root.
 * @param earlier the newest build, if it is whole
 */
export type Build = (folder: string, earlier: Earlier | undefined) => Promise<readonly string[]>;

const longestBuildMs = 300_000;
/** The system may give a change the time of its last clock tick. */
export const clockTickMs = 20;

/** @returns the name of the folder of a current build, which may be that of another process */
export async function buildOnce(root: string, build: Build): Promise<string> {
  const kept = keptIn(root);
  mkdirSync(kept, { recursive: true });
  // A lock that ends with its process, however that ends.
  const path = join(kept, 'lock.sqlite');
  using lock = new DatabaseSync(path, { timeout: longestBuildMs });
  try {
    lock.exec('BEGIN EXCLUSIVE');
  } catch (caught) {
    throw new Error(
      `${path}: expected the lock of builds, which this process could take: ${String(caught)}; remove it`,
    );
  }
  const current = currentBundles(root);
  return current === undefined ? await buildCurrent(root, kept, build) : basename(current);
}

async function buildCurrent(root: string, kept: string, build: Build): Promise<string> {
  for (;;) {
    const startedMs = performance.timeOrigin + performance.now();
    const folder = `${Math.trunc(startedMs).toString(36)}-${process.pid}`;
    const draft = join(kept, `draft-${folder}`);
    try {
      mkdirSync(draft);
      const inputs = await build(draft, earlierIn(root));
      const stamps = inputs.map((file) => [file, stampOf(join(root, file))] as const);
      // A file that changed meanwhile may have been read before.
      if (stamps.some(([, stamp]) => Number(stamp.split(' ')[2]) >= startedMs - clockTickMs)) continue;
      const files = readdirSync(draft).map((file) => [file, statSync(join(draft, file)).size]);
      renameSync(draft, join(kept, folder));
      writeFileSync(join(kept, 'current.new'), JSON.stringify({ folder, files, inputs: stamps }));
      renameSync(join(kept, 'current.new'), join(kept, 'current.json'));
      removeUnused(kept, folder);
      return folder;
    } finally {
      rmSync(draft, { recursive: true, force: true });
    }
  }
}

function earlierIn(root: string): Earlier | undefined {
  const newest = newestBuild(root);
  if (newest === undefined) return undefined;
  const stamps = new Map(newest.inputs);
  return { folder: newest.folder, isSame: (file) => isSame(root, file, stamps.get(file)) };
}

/** Removes builds from which no process runs, and drafts of builds that were killed. */
function removeUnused(kept: string, current: string): void {
  for (const entry of readdirSync(kept, { withFileTypes: true })) {
    if (!entry.isDirectory() || entry.name === current) continue;
    const path = join(kept, entry.name);
    const users = readdirSync(path).flatMap((file) => /^used-by-(\d+)$/.exec(file)?.[1] ?? []);
    if (!users.some((pid) => isRunning(Number(pid)))) rmSync(path, { recursive: true, force: true });
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (caught) {
    return (caught as NodeJS.ErrnoException).code === 'EPERM';
  }
}
