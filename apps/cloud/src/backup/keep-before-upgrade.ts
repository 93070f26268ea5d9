/**
 * Keeps a copy of an older data directory's metadata before it is upgraded.
 *
 * Order: metadata copied to `before-upgrade/meta-v<N>.sqlite` → the tables change, in one transaction → the directory's version is updated.
 * After a crash at any point, the next start upgrades the directory again. While the tables are still old, the copy is made again;
 * afterwards it is kept. Only the host administrator deletes it.
 */
import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { makeDirectory } from '../instance/make-directory.ts';
import { copyDatabase, readDatabase, userVersion } from './copy-database.ts';
import { syncDirectories } from './copy-with-hash.ts';

/** @param found version of the directory @returns the copy; undefined if the tables are already newer */
export async function keepBeforeUpgrade(dataDirectory: string, found: number): Promise<string | undefined> {
  const meta = join(dataDirectory, 'meta.sqlite');
  if (readDatabase(meta, userVersion) > found) return undefined;
  const name = `before-upgrade/meta-v${found}.sqlite`;
  const kept = join(dataDirectory, name);
  makeDirectory(join(dataDirectory, 'before-upgrade'));
  // A crash may have left an incomplete copy.
  rmSync(`${kept}.new`, { force: true });
  await copyDatabase(meta, `${kept}.new`);
  renameSync(`${kept}.new`, kept);
  await syncDirectories(dataDirectory, [name]);
  return kept;
}
