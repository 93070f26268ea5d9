/**
 * Makes a safety copy of a data directory, and of its database, before a start changes their tables. It is a backup in
 * `before-upgrade/<versions>`, so `platform admin restore` restores it into a new directory.
 *
 * Order: copied to `before-upgrade/<versions>.new` → renamed → the tables change. After a crash at any point the next start begins again:
 * while the tables are old, the copy is made again; afterwards it is kept. Only the host administrator deletes it. Files of readings and
 * payloads never change and are hard links, so they take no space until the cloud removes them; they are not read, because that would
 * delay the start by hours.
 */
import { existsSync, renameSync, rmSync } from 'node:fs';
import { link, lstat, mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { versionOfFile } from './copy/copy-database.ts';
import { type CopyVerifiedOptions, copyVerified } from './copy/copy-verified.ts';
import { syncDirectories } from './copy/copy-with-hash.ts';
import type { BackedUpFile, DamagedFile } from './manifest.ts';
import { copyAll } from './write-backup.ts';

export interface StoreVersions {
  readonly meta: number;
  readonly ingest: number;
}

const folder = 'before-upgrade';

/** Versions of the tables in a directory on SQLite; 0: there are none yet. */
export function sqliteVersions(dataDirectory: string): StoreVersions {
  return {
    meta: versionOfFile(join(dataDirectory, 'meta.sqlite')),
    ingest: versionOfFile(join(dataDirectory, 'ingest.sqlite')),
  };
}

/** Whether a start would change tables that exist. */
export function isUpgrade(found: StoreVersions, newest: StoreVersions): boolean {
  return found.meta > 0 && found.ingest > 0 && (found.meta < newest.meta || found.ingest < newest.ingest);
}

/** @returns the directory of the copy */
export async function keepBeforeUpgrade(options: {
  readonly dataDirectory: string;
  /** `postgres://…`; used if the installation is in Postgres. */
  readonly database: string | undefined;
  readonly found: StoreVersions;
  readonly keyInEnvironment: boolean;
  readonly now: () => number;
  readonly monotonic: () => number;
}): Promise<string> {
  const { dataDirectory, database, found } = options;
  const name = `${folder}/meta-v${found.meta}-ingest-v${found.ingest}`;
  const kept = join(dataDirectory, name);
  // A crash may have left an incomplete copy.
  rmSync(`${kept}.new`, { recursive: true, force: true });
  await copyAll(
    {
      ...options,
      destination: `${kept}.new`,
      // Nothing else runs yet that could delete.
      hold: async () => ({ stands: async () => {}, [Symbol.asyncDispose]: async () => {} }),
      key: { kind: 'included' },
      program: 'before an upgrade',
      progress: () => {},
      signal: new AbortController().signal,
      take: linkNamed,
    },
    database !== undefined,
  );
  if (existsSync(kept)) rmSync(kept, { recursive: true });
  renameSync(`${kept}.new`, kept);
  await syncDirectories(dataDirectory, [name]);
  return kept;
}

/** Links a named file without reading it. One whose checksum was not recorded, or that cannot be linked, is read and copied. */
async function linkNamed(options: CopyVerifiedOptions): Promise<BackedUpFile | DamagedFile> {
  const { from, to, file } = options;
  const { path, bytes, sha256 } = file;
  const source = join(from, ...path.split('/'));
  const target = join(to, ...path.split('/'));
  const found = await lstat(source).catch(() => undefined);
  if (sha256 === null || bytes === null || found?.isFile() !== true || found.size !== bytes)
    return copyVerified(options);
  await mkdir(dirname(target), { recursive: true, mode: 0o700 });
  const isLinked = await link(source, target).then(
    () => true,
    () => false,
  );
  return isLinked ? { path, bytes, sha256 } : copyVerified(options);
}
