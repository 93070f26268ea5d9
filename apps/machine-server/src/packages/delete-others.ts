import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { errorText, type Log } from '@platform/base';

/** Deletes the folders of all other versions, and unfinished ones of an earlier start. @param root the folder of all packages */
export async function deleteOthers(root: string, keep: ReadonlySet<string>, log: Log): Promise<void> {
  for (const type of await readdir(root).catch(() => []))
    for (const version of await readdir(join(root, type)).catch(() => [])) {
      const folder = join(root, type, version);
      if (keep.has(folder)) continue;
      await rm(folder, { recursive: true, force: true }).catch((caught: unknown) =>
        log.warn(`${folder} cannot be deleted: ${errorText(caught)}`),
      );
    }
}
