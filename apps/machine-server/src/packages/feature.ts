/**
 * Packages: archives that the machine downloads from its cloud, each version into its own folder.
 *
 * States of a package: downloading → loading (it is unpacked) → ready | failed (retried after increasing delays). A folder appears completely
 * or not at all, and stays while the cloud is unavailable. Versions that the configuration no longer names are deleted some time after all
 * others are ready, so that programs still running from them can end.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { backoffMs, type Clock, errorText, type Log } from '@platform/base';
import type { MachineConfig } from '@platform/machine-config/schema';
import { deleteOthers } from './delete-others.ts';
import { fetchPackage, type PackageSource } from './fetch-package.ts';
import { folderOf, type PackageConfig, readPackages } from './package-config.ts';
import { resolvePlaceholders } from './placeholders.ts';

export type PackageState = 'downloading' | 'loading' | 'ready' | 'failed';

export interface PackageStatus {
  readonly wanted: PackageConfig;
  readonly state: PackageState;
  readonly error: string;
  /** Wall clock ms of the last change of state. */
  readonly since: number;
}

export interface PackagesDeps {
  readonly home: string;
  /** Undefined without a cloud from which to download. */
  readonly source: PackageSource | undefined;
  /** Called after a package has become ready, or could not be fetched. */
  readonly onChange: () => void;
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
  /** The folder of the package that contains this path; undefined if none does. */
  folderWith(path: string): string | undefined;
}

const deleteAfterMs = 60_000;

interface Entry {
  status: PackageStatus;
  readonly folder: string;
  readonly stop: AbortController;
  over: Promise<void>;
}

export function createPackages({ home, source, onChange, clock, log }: PackagesDeps): Packages {
  const root = join(home, 'packages');
  /** By folder. */
  const entries = new Map<string, Entry>();
  const ending = new Set<Promise<void>>();
  let deletion: Disposable | undefined;

  const set = (entry: Entry, state: PackageState, error = ''): void => {
    entry.status = { ...entry.status, state, error, since: clock.now() };
    if (state === 'ready' || state === 'failed') onChange();
  };
  const fetchOnce = async (entry: Entry): Promise<void> => {
    const { wanted } = entry.status;
    if (existsSync(entry.folder)) return;
    if (wanted.error !== '') throw new Error(wanted.error);
    if (source === undefined) throw new Error('there is no cloud to download it from');
    set(entry, 'downloading', entry.status.error);
    const onUnpack = (): void => set(entry, 'loading');
    await fetchPackage({ source, wanted, root, folder: entry.folder, onUnpack, signal: entry.stop.signal });
    log.info(`package "${wanted.name}" is there`, { package: wanted.id, version: wanted.version });
  };
  const keepFetching = async (entry: Entry): Promise<void> => {
    const { signal } = entry.stop;
    for (let failures = 1; !signal.aborted; failures++) {
      try {
        await fetchOnce(entry);
        set(entry, 'ready');
        return deleteOldLater();
      } catch (caught) {
        if (signal.aborted) return;
        const error = errorText(caught);
        if (entry.status.error !== error)
          log.error(`package "${entry.status.wanted.name}" cannot be fetched; trying again: ${error}`);
        set(entry, 'failed', error);
        await clock.sleep(backoffMs(failures, { firstMs: 1_000, maxMs: 60_000 }), signal).catch(() => {});
      }
    }
  };
  const deleteOldLater = (): void => {
    deletion?.[Symbol.dispose]();
    deletion = clock.after(deleteAfterMs, () => void deleteOld());
  };
  const deleteOld = async (): Promise<void> => {
    if ([...entries.values()].some(({ status }) => status.state !== 'ready')) return;
    await deleteOthers(root, new Set(entries.keys()), log);
  };
  const end = (entry: Entry): void => {
    entries.delete(entry.folder);
    entry.stop.abort();
    ending.add(entry.over);
    void entry.over.then(() => ending.delete(entry.over));
  };
  const begin = (folder: string, wanted: PackageConfig): void => {
    const isThere = existsSync(folder);
    const status = { wanted, state: isThere ? 'ready' : 'downloading', error: '', since: clock.now() } as const;
    const entry: Entry = { status, folder, stop: new AbortController(), over: Promise.resolve() };
    entries.set(folder, entry);
    if (isThere) deleteOldLater();
    else entry.over = keepFetching(entry);
  };
  const entryWith = (path: string): Entry | undefined =>
    [...entries.values()].find(({ folder }) => path === folder || path.startsWith(`${folder}/`));

  return {
    apply(config) {
      const wanted = new Map(readPackages(config.packages).map((each) => [join(root, folderOf(each)), each]));
      for (const entry of [...entries.values()]) {
        const next = wanted.get(entry.folder);
        if (next === undefined || JSON.stringify(next) !== JSON.stringify(entry.status.wanted)) end(entry);
      }
      for (const [folder, each] of wanted) if (!entries.has(folder)) begin(folder, each);
      return resolvePlaceholders(config, (name, type) => {
        const fits = ({ wanted: each }: PackageStatus): boolean =>
          each.name === name && (type === undefined || each.type === type);
        return [...entries.values()].find(({ status }) => fits(status))?.folder;
      });
    },
    status: () => [...entries.values()].map(({ status }) => status),
    errors: () =>
      [...entries.values()]
        .filter(({ status }) => status.error !== '')
        .map(({ status }) => `package "${status.wanted.name}": ${status.error}`)
        .join('\n'),
    missing(path) {
      const status = entryWith(path)?.status;
      if (status === undefined || status.state === 'ready') return undefined;
      const { wanted, state, error } = status;
      return `its package "${wanted.name}" is not available yet: ${error === '' ? state : error}`;
    },
    folderWith: (path) => entryWith(path)?.folder,
    async [Symbol.asyncDispose]() {
      deletion?.[Symbol.dispose]();
      for (const entry of [...entries.values()]) end(entry);
      await Promise.all(ending);
    },
  };
}
