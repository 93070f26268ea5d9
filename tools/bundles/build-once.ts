/** Keeps builds of bundles: one process builds at a time, and only whole builds are used. */
import { mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { currentBundles, keptIn, stampOf } from './find-bundles.js';

/** Builds into the folder, and returns the files that went into the build, relative to the root. */
export type Build = (folder: string) => Promise<readonly string[]>;

const longestBuildMs = 300_000;
/** The system may give a change the time of its last clock tick. */
export const clockTickMs = 20;

/** @returns the name of the folder of a current build, which may be that of another process */
export async function buildOnce(root: string, build: Build): Promise<string> {
  const kept = keptIn(root);
  mkdirSync(kept, { recursive: true });
  // A lock that ends with its process, however that ends.
  using lock = new DatabaseSync(join(kept, 'lock.sqlite'), { timeout: longestBuildMs });
  lock.exec('BEGIN EXCLUSIVE');
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
      const inputs = await build(draft);
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
