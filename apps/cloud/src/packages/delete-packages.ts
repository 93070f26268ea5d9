/** Deletes packages: their rows at once, their archives later, because deleting archives waits for backups (I15). */
import { chunks } from '@platform/base';
import type { BlobStore } from '../blobs/blob-store.ts';
import { rowsPerStatement } from '../metadata/rows-per-statement.ts';
import type { Database } from '../metadata/tables.ts';
import type { PackageRow } from './store.ts';

/** Runs in the caller's transaction. */
export async function deletePackages(
  trx: Database,
  packages: readonly Pick<PackageRow, 'id' | 'blob_path'>[],
): Promise<void> {
  for (const some of chunks(packages, rowsPerStatement)) {
    await trx
      .deleteFrom('packages')
      .where(
        'id',
        'in',
        some.map(({ id }) => id),
      )
      .execute();
    await trx
      .insertInto('package_removals')
      .values(some.map(({ blob_path }) => ({ blob_path })))
      .execute();
  }
}

/** Deletes the details of a module that has no versions left. Runs in the caller's transaction. */
export async function forgetWithoutVersions(trx: Database, organizationId: string, name: string): Promise<void> {
  const versions = trx
    .selectFrom('packages')
    .select('packages.name')
    .where('packages.organization_id', '=', organizationId)
    .where('packages.name', '=', name);
  await trx
    .deleteFrom('modules')
    .where('organization_id', '=', organizationId)
    .where('name', '=', name)
    .where(({ not, exists }) => not(exists(versions)))
    .execute();
}

const removalsAtOnce = 100;

/** A step for `follow`: returns true if there may be more. After a crash, the removal is repeated. */
export async function removeArchives(db: Database, blobs: Pick<BlobStore, 'remove'>): Promise<boolean> {
  const waiting = await db.selectFrom('package_removals').selectAll().limit(removalsAtOnce).execute();
  const paths = waiting.map(({ blob_path: path }) => path);
  if (paths.length === 0) return false;
  for (const path of paths) await blobs.remove(path);
  await db.deleteFrom('package_removals').where('blob_path', 'in', paths).execute();
  return waiting.length === removalsAtOnce;
}
