/** Counts the capture files that wait on the disk, and those that were set aside, per resource. */
import { basename, join, relative, sep } from 'node:path';
import { apiOf, failedFolder, timeOf } from '../directories/paths.ts';
import { walkFiles } from '../directories/walk-files.ts';

export interface ResourceBacklog {
  files: number;
  quarantined: number;
  /** Wall ms at which the oldest waiting file began; undefined if none waits, or its name has no time. */
  oldestMs: number | undefined;
}

/** By `<api>/<name>`. */
export type Backlog = ReadonlyMap<string, ResourceBacklog>;

const { signal } = new AbortController();

export async function backlogOf(directories: readonly string[]): Promise<Backlog> {
  const resources = new Map<string, ResourceBacklog>();
  const of = (path: string, root: string): ResourceBacklog => {
    const name = resourceName(relative(root, path).split(sep));
    const known = resources.get(name) ?? { files: 0, quarantined: 0, oldestMs: undefined };
    resources.set(name, known);
    return known;
  };
  for (const directory of directories) {
    for await (const path of walkFiles(directory, signal)) {
      if (!/\.(capture|prog)$/.test(path)) continue;
      const found = of(path, directory);
      found.files++;
      const beganMs = timeOf(basename(path));
      if (beganMs !== undefined && (found.oldestMs === undefined || beganMs < found.oldestMs)) found.oldestMs = beganMs;
    }
    const failed = join(directory, failedFolder);
    for await (const path of walkFiles(directory, signal, { from: failed }))
      if (!path.endsWith('.reason')) of(path, failed).quarantined++;
  }
  return resources;
}

function resourceName([api = '', name = '']: readonly string[]): string {
  return `${apiOf(api)}/${name}`;
}
