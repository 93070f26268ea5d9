/**
 * Packages: archives that the machine downloads from its cloud, each version into its own folder.
 *
 * States of a package: downloading → loading (it is unpacked) → ready | failed (retried after increasing delays). A folder appears completely
 * or not at all, and stays while the cloud is unavailable. Until a version is ready, whatever uses the package keeps the previous one.
 * Versions that the configuration no longer names are deleted some time after all others are ready, so that programs still running from them
 * can end.
 */
import { join } from 'node:path';
import type { MachineConfig } from '@platform/machine-config/schema';
import type { PackageStatus } from './keep-fetching.ts';
import { readPackages, releaseOf } from './package-config.ts';
import { resolvePlaceholders } from './placeholders.ts';
import { createVersions, type VersionsDeps } from './versions.ts';

export type { PackageState, PackageStatus } from './keep-fetching.ts';

export interface PackagesDeps extends Omit<VersionsDeps, 'root'> {
  readonly home: string;
}

export interface Packages extends AsyncDisposable {
  /** Starts to fetch missing packages. @returns the configuration with the folders of its packages instead of placeholders */
  apply(config: MachineConfig): MachineConfig;
  status(): readonly PackageStatus[];
  /** The cloud can be reached again. */
  retry(): void;
  /** Errors of packages, one per line. */
  errors(): string;
  /** Why a path in a package cannot be used yet; undefined if it can, or is not in a package. */
  missing(path: string): string | undefined;
  /** The package that contains this path; undefined if none does. */
  with(path: string): PackageWith | undefined;
}

export interface PackageWith {
  readonly folder: string;
  /** Without the platform. */
  readonly version: string;
  /** Why the configured version is not in use; empty if it is. */
  readonly warning: string;
}

export function createPackages({ home, ...deps }: PackagesDeps): Packages {
  const root = join(home, 'packages');
  const versions = createVersions({ root, ...deps });
  const { entries, insteadOf } = versions;
  const isIn = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}/`);
  const reasonOf = ({ state, error }: PackageStatus): string => (error === '' ? state : error);

  return {
    apply(config) {
      versions.keep(readPackages(config.packages));
      return resolvePlaceholders(config, (name, type) => {
        const fits = ({ wanted: each }: PackageStatus): boolean =>
          each.name === name && (type === undefined || each.type === type);
        const entry = [...entries.values()].find(({ status }) => fits(status));
        return entry && (insteadOf(entry)?.folder ?? entry.folder);
      });
    },
    retry() {
      for (const entry of entries.values()) entry.retry?.();
    },
    status: () => [...entries.values()].map(({ status }) => status),
    errors: () =>
      [...entries.values()]
        .filter(({ status }) => status.error !== '')
        .map(({ status }) => `package "${status.wanted.name}": ${status.error}`)
        .join('\n'),
    missing(path) {
      const status = [...entries.values()].find(({ folder }) => isIn(path, folder))?.status;
      if (status === undefined || status.state === 'ready') return undefined;
      return `its package "${status.wanted.name}" is not available yet: ${reasonOf(status)}`;
    },
    with(path) {
      for (const entry of entries.values()) {
        const { wanted, state, error } = entry.status;
        if (isIn(path, entry.folder)) {
          const warning = state === 'ready' ? error : '';
          return { folder: entry.folder, version: releaseOf(wanted.version), warning };
        }
        const instead = insteadOf(entry);
        if (instead === undefined || !isIn(path, instead.folder)) continue;
        const version = releaseOf(instead.version);
        const warning = `runs ${version}, not ${releaseOf(wanted.version)}: ${reasonOf(entry.status)}`;
        return { folder: instead.folder, version, warning };
      }
      return undefined;
    },
    [Symbol.asyncDispose]: () => versions[Symbol.asyncDispose](),
  };
}
