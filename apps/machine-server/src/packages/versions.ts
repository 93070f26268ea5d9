/** The configured versions of packages: each is fetched until it is there, and stays for some time after it is no longer configured. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock, Log } from '@platform/base';
import { deleteOthers } from './delete-others.ts';
import type { PackageSource } from './fetch-package.ts';
import { PackagesInUse, type VersionInUse } from './in-use.ts';
import { type Entry, keepFetching, type PackageState } from './keep-fetching.ts';
import { folderOf, type PackageConfig } from './package-config.ts';

export interface VersionsDeps {
  /** The folder of all packages. */
  readonly root: string;
  /** Undefined without a cloud from which to download. */
  readonly source: PackageSource | undefined;
  /** Called after a package has become ready, or could not be fetched. */
  readonly onChange: () => void;
  /** Called after a version has become ready instead of which an earlier one is in use: the configuration must be applied again. */
  readonly onNewVersion: () => void;
  readonly clock: Clock;
  readonly log: Log;
}

export interface Versions extends AsyncDisposable {
  /** By folder. */
  readonly entries: ReadonlyMap<string, Entry>;
  /** Fetches those that are missing, and ends all others. */
  keep(configured: readonly PackageConfig[]): void;
  /** The version that is used for an entry, if it is not its own. */
  insteadOf(entry: Entry): VersionInUse | undefined;
}

const deleteAfterMs = 60_000;

export function createVersions({ root, source, onChange, onNewVersion, clock, log }: VersionsDeps): Versions {
  const inUse = new PackagesInUse(root, log);
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

  return {
    entries,
    keep(configured) {
      const wanted = new Map(configured.map((each) => [join(root, folderOf(each)), each]));
      for (const entry of [...entries.values()]) {
        const next = wanted.get(entry.folder);
        if (next === undefined || JSON.stringify(next) !== JSON.stringify(entry.status.wanted)) end(entry);
      }
      inUse.keep(configured);
      for (const [folder, each] of wanted) if (!entries.has(folder)) begin(folder, each);
    },
    insteadOf: ({ status: { wanted, state } }) => (state === 'ready' ? undefined : inUse.of(wanted)),
    async [Symbol.asyncDispose]() {
      deletion?.[Symbol.dispose]();
      for (const entry of [...entries.values()]) end(entry);
      await Promise.all(ending);
      await inUse.written();
    },
  };
}
