/**
 * Packages: archives of an organization (modules, models, other files) that its machines download.
 *
 * States of an archive: streamed into the blob store → durable → named by a row of `packages` → its row deleted and its path noted
 * in `package_removals`, in one transaction → removed. A crash leaves an archive that no row names (swept after an hour) or a noted
 * path (removed by the next step).
 */
import type { PackageService } from '@platform/proto/platform/app/packages/v1/packages';
import type { Handlers } from '@platform/rpc/server';
import type { Principal } from '../access/principal.ts';
import { removeArchives } from './delete-packages.ts';
import { type PackageRoute, type PackageRouteDeps, packageRoute } from './download/package-route.ts';
import { packageHandlers } from './package-rpc.ts';

export interface Packages {
  readonly handlers: Handlers<typeof PackageService, Principal>;
  readonly download: PackageRoute;
  /** Whether a row names this archive: then the sweep of the blob store leaves it alone. */
  hasArchive(path: string): Promise<boolean>;
  /** Takes away archives whose rows are gone; true when there may be more. Not while a backup is taken (I15). */
  removeArchives(): Promise<boolean>;
  /** Called after a deletion: `removeArchives` has work. */
  onDeleted(listener: () => void): void;
}

export function createPackages(deps: PackageRouteDeps): Packages {
  const { db, blobs } = deps;
  const listeners: (() => void)[] = [];
  const deleted = (): void => {
    for (const listener of listeners) listener();
  };
  return {
    handlers: packageHandlers({ ...deps, deleted }),
    download: packageRoute(deps),
    async hasArchive(path) {
      const row = await db.selectFrom('packages').select('id').where('blob_path', '=', path).executeTakeFirst();
      return row !== undefined;
    },
    removeArchives: () => removeArchives(db, blobs),
    onDeleted: (listener) => void listeners.push(listener),
  };
}
