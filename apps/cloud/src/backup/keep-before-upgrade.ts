/**
 * Before an older data directory is brought up to date, its metadata is kept aside as it is.
 *
 * Order: metadata kept under `before-upgrade/meta-v<N>.sqlite` → the tables change, in one transaction → the directory's version
 * is written down. A crash anywhere leaves a directory that the next start upgrades again: while the tables are the old ones the
 * copy is made again, afterwards it stays. No one deletes it but the host administrator.
 */
import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { makeDirectory } from '../instance/make-directory.ts';
import { copyDatabase, readDatabase, userVersion } from './copy-database.ts';
import { syncDirectories } from './copy-with-hash.ts';

/** @param found version of the directory. @returns the copy; undefined when the tables are newer than that already. */
export async function keepBeforeUpgrade(dataDirectory: string, found: number): Promise<string | undefined> {
  const meta = join(dataDirectory, 'meta.sqlite');
  if (readDatabase(meta, userVersion) > found) return undefined;
  const name = `before-upgrade/meta-v${found}.sqlite`;
  const kept = join(dataDirectory, name);
  makeDirectory(join(dataDirectory, 'before-upgrade'));
  // What a crash left there may be half of a copy.
  rmSync(`${kept}.new`, { force: true });
  await copyDatabase(meta, `${kept}.new`);
  renameSync(`${kept}.new`, kept);
  await syncDirectories(dataDirectory, [name]);
  return kept;
}
