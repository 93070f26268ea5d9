/**
 * Packages: archives of an organization (modules, models, other files) that its machines download.
 *
 * States of an archive: streamed into the blob store → durable → listed by a row of `packages` → row deleted and path added to
 * `package_removals`, in one transaction → removed. A crash leaves an archive without a row (swept after an hour) or a path in
 * `package_removals` (removed by the next step).
 */
import type { PackageService } from '@platform/proto/platform/app/packages/v1/packages';
import type { AppService } from '@platform/proto/platform/app/v1/app';
import type { CloudHandlers } from '../access/principal.ts';
import type { Route } from '../wire/route.ts';
import { removeArchives } from './delete-packages.ts';
import { type PackageRouteDeps, packageRoute } from './download/package-route.ts';
import { moduleHandlers } from './modules/module-rpc.ts';
import { packageHandlers } from './package-rpc.ts';

export interface Packages {
  readonly handlers: CloudHandlers<typeof PackageService>;
  /** Operations on modules. */
  readonly appHandlers: CloudHandlers<typeof AppService>;
  readonly download: Route;
  /** Whether a row lists this archive: if so, the sweep of the blob store keeps it. */
  hasArchive(path: string): Promise<boolean>;
  /** Removes archives whose rows were deleted; returns true if there may be more. Must not be called while a backup is taken (I15). */
  removeArchives(): Promise<boolean>;
  /** The listener is called after a deletion, when `removeArchives` has work. */
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
    appHandlers: moduleHandlers(deps),
    download: packageRoute(deps),
    async hasArchive(path) {
      const row = await db.selectFrom('packages').select('id').where('blob_path', '=', path).executeTakeFirst();
      return row !== undefined;
    },
    removeArchives: () => removeArchives(db, blobs),
    onDeleted: (listener) => void listeners.push(listener),
  };
}
