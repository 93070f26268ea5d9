/**
 * Packages: archives that the machine downloads from its cloud, each version into its own folder.
 *
 * States of a package: downloading → loading (it is unpacked) → ready | failed (retried after increasing delays). A folder appears completely
 * or not at all, and stays while the cloud is unavailable. Until a version is ready, whatever uses the package keeps the previous one.
 * Versions that the configuration no longer names are deleted some time after all others are ready, so that programs still running from them
 * can end.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock, Log } from '@platform/base';
import type { MachineConfig } from '@platform/machine-config/schema';
import { deleteOthers } from './delete-others.ts';
import type { PackageSource } from './fetch-package.ts';
import { PackagesInUse } from './in-use.ts';
import { type Entry, keepFetching, type PackageState, type PackageStatus } from './keep-fetching.ts';
import { folderOf, type PackageConfig, readPackages, releaseOf } from './package-config.ts';
import { resolvePlaceholders } from './placeholders.ts';

export type { PackageState, PackageStatus } from './keep-fetching.ts';

export interface PackagesDeps {
  readonly home: string;
  /** Undefined without a cloud from which to download. */
  readonly source: PackageSource | undefined;
  /** Called after a package has become ready, or could not be fetched. */
  readonly onChange: () => void;
  /** Called after a version has become ready instead of which an earlier one is in use: the configuration must be applied again. */
  readonly onNewVersion: () => void;
  readonly clock: Clock;
  readonly log: Log;
}

export interface Packages extends AsyncDisposable {
  /** Starts to fetch missing packages. @returns the configuration with the folders of its packages instead of placeholders */
  apply(config: MachineConfig): MachineConfig;
  status(): readonly PackageStatus[];
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

const deleteAfterMs = 60_000;

export function createPackages({ home, source, onChange, onNewVersion, clock, log }: PackagesDeps): Packages {
  const root = join(home, 'packages');
  const inUse = new PackagesInUse(root, log);
  /** By folder. */
  const entries = new Map<string, Entry>();
  const ending = new Set<Promise<void>>();
  let deletion: Disposable | undefined;

  const set = (entry: Entry, state: PackageState, error = ''): void => {
    entry.status = { ...entry.status, state, error, since: clock.now() };
    if (state === 'ready' || state === 'failed') onChange();
  };
  const ready = (entry: Entry): void => {
    const { wanted } = entry.status;
    const before = inUse.of(wanted);
    inUse.ready(wanted);
    if (before !== undefined) onNewVersion();
    set(entry, 'ready');
    deleteOldLater();
  };
  const deleteOldLater = (): void => {
    deletion?.[Symbol.dispose]();
    deletion = clock.after(deleteAfterMs, () => void deleteOld());
  };
  const deleteOld = async (): Promise<void> => {
    if ([...entries.values()].some(({ status }) => status.state !== 'ready')) return;
    await deleteOthers(root, new Set([...entries.keys(), ...inUse.folders]), log);
  };
  const end = (entry: Entry): void => {
    entries.delete(entry.folder);
    entry.stop.abort();
    ending.add(entry.over);
    void entry.over.then(() => ending.delete(entry.over));
  };
  const begin = (folder: string, wanted: PackageConfig): void => {
    const isThere = existsSync(folder);
    // The cloud may no longer have a version that this machine has.
    const status = isThere
      ? ({ wanted, state: 'ready', error: wanted.error, since: clock.now() } as const)
      : ({ wanted, state: 'downloading', error: '', since: clock.now() } as const);
    const entry: Entry = { status, folder, stop: new AbortController(), over: Promise.resolve() };
    entries.set(folder, entry);
    if (isThere) {
      inUse.ready(wanted);
      deleteOldLater();
    } else entry.over = keepFetching(entry, { source, root, set, ready, clock, log });
  };
  const isIn = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}/`);
  const reasonOf = ({ state, error }: PackageStatus): string => (error === '' ? state : error);
  /** The version that is used for an entry, if it is not its own. */
  const insteadOf = ({ status: { wanted, state } }: Entry) => (state === 'ready' ? undefined : inUse.of(wanted));

  return {
    apply(config) {
      const configured = readPackages(config.packages);
      const wanted = new Map(configured.map((each) => [join(root, folderOf(each)), each]));
      for (const entry of [...entries.values()]) {
        const next = wanted.get(entry.folder);
        if (next === undefined || JSON.stringify(next) !== JSON.stringify(entry.status.wanted)) end(entry);
      }
      inUse.keep(configured);
      for (const [folder, each] of wanted) if (!entries.has(folder)) begin(folder, each);
      return resolvePlaceholders(config, (name, type) => {
        const fits = ({ wanted: each }: PackageStatus): boolean =>
          each.name === name && (type === undefined || each.type === type);
        const entry = [...entries.values()].find(({ status }) => fits(status));
        return entry && (insteadOf(entry)?.folder ?? entry.folder);
      });
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
    async [Symbol.asyncDispose]() {
      deletion?.[Symbol.dispose]();
      for (const entry of [...entries.values()]) end(entry);
      await Promise.all(ending);
      await inUse.written();
    },
  };
}
