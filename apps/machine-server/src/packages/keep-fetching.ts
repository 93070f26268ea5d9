/** Fetches a package until it is there. */
import { existsSync } from 'node:fs';
import { backoffMs, type Clock, errorText, type Log } from '@platform/base';
import { fetchPackage, type PackageSource } from './fetch-package.ts';
import type { PackageConfig } from './package-config.ts';

export type PackageState = 'downloading' | 'loading' | 'ready' | 'failed';

export interface PackageStatus {
  readonly wanted: PackageConfig;
  readonly state: PackageState;
  readonly error: string;
  /** Wall clock ms of the last change of state. */
  readonly since: number;
}

export interface Entry {
  status: PackageStatus;
  readonly folder: string;
  readonly stop: AbortController;
  over: Promise<void>;
  /** Ends the wait before the next attempt; undefined: none has failed yet. */
  retry?: () => void;
}

export interface KeepFetchingDeps {
  /** Undefined without a cloud from which to download. */
  readonly source: PackageSource | undefined;
  /** The folder of all packages. */
  readonly root: string;
  set(entry: Entry, state: PackageState, error?: string): void;
  /** Called once it is there. */
  ready(entry: Entry): void;
  readonly clock: Clock;
  readonly log: Log;
}

/** Tries again after increasing delays, until it is there or stopped. Never rejects. */
export async function keepFetching(entry: Entry, deps: KeepFetchingDeps): Promise<void> {
  const { set, ready, clock, log } = deps;
  const { signal } = entry.stop;
  for (let failures = 1; !signal.aborted; failures++) {
    try {
      await fetchOnce(entry, deps);
      return ready(entry);
    } catch (caught) {
      if (signal.aborted) return;
      const error = errorText(caught);
      if (entry.status.error !== error)
        log.error(`package "${entry.status.wanted.name}" cannot be fetched; trying again: ${error}`);
      set(entry, 'failed', error);
      const waiting = new AbortController();
      entry.retry = () => waiting.abort();
      signal.addEventListener('abort', entry.retry);
      await clock.sleep(backoffMs(failures, { firstMs: 1_000, maxMs: 60_000 }), waiting.signal).catch(() => {});
      signal.removeEventListener('abort', entry.retry);
    }
  }
}

async function fetchOnce(entry: Entry, { source, root, set, log }: KeepFetchingDeps): Promise<void> {
  const { wanted, error } = entry.status;
  if (existsSync(entry.folder)) return;
  if (wanted.error !== '') throw new Error(wanted.error);
  if (source === undefined) throw new Error('there is no cloud to download it from');
  set(entry, 'downloading', error);
  const onUnpack = (): void => set(entry, 'loading');
  await fetchPackage({ source, wanted, root, folder: entry.folder, onUnpack, signal: entry.stop.signal });
  log.info(`package "${wanted.name}" is there`, { package: wanted.id, version: wanted.version });
}
