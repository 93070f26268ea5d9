/**
 * Reads every listed file completely and slowly once per period, so that damage is found before a query needs the file. Damaged files are
 * checked again once a minute, so that a restored file is readable soon.
 */
import { type Clock, type Follower, follow, type Log } from '@platform/base';
import type { Catalog } from '../catalog/catalog.ts';
import type { Child } from '../child/child.ts';
import type { FileRef, FoundFile, FromChild } from '../process/messages.ts';
import type { TabularSettings } from '../settings.ts';
import type { FileHealth } from './file-health.ts';

export interface Scrub extends AsyncDisposable {
  start(): void;
  answered(message: Extract<FromChild, { kind: 'scrubbed' }>): void;
  onDeath(): void;
}

const idleMs = 60_000;

export function createScrub(deps: {
  readonly child: () => Child;
  readonly catalog: Pick<Catalog, 'dueForScrub' | 'listed'>;
  readonly health: FileHealth;
  readonly settings: Pick<TabularSettings, 'scrubPeriodMs' | 'scrubBytesPerSecond'>;
  readonly clock: Clock;
  readonly log: Log;
}): Scrub {
  const { child, catalog, health, settings, clock, log } = deps;
  const asked = new Map<number, (found: FoundFile) => void>();
  let nextId = 1;
  let follower: Follower | undefined;
  /** Files that could not be read in this round. */
  const passed = new Set<string>();
  let lookedMs = Number.NEGATIVE_INFINITY;

  const scrub = async (file: FileRef, bytesPerSecond: number, signal: AbortSignal): Promise<FoundFile> => {
    await child().ready(signal);
    const found = await new Promise<FoundFile>((resolve) => {
      const id = nextId++;
      asked.set(id, resolve);
      signal.addEventListener('abort', () => resolve({ kind: 'unknown', reason: 'stopped' }), { once: true });
      child().send({ kind: 'scrub', id, file, bytesPerSecond });
    });
    await health.found(file.file, found, true);
    return found;
  };

  const step = async (signal: AbortSignal): Promise<boolean> => {
    if (clock.monotonic() - lookedMs >= idleMs) {
      lookedMs = clock.monotonic();
      passed.clear();
      for (const { file } of await health.damaged()) {
        const ref = await catalog.listed(file);
        if (ref !== undefined) await scrub(ref, Number.POSITIVE_INFINITY, signal);
      }
    }
    if (settings.scrubPeriodMs === 0) return false;
    const due = await catalog.dueForScrub(clock.now() - settings.scrubPeriodMs, passed);
    if (due === undefined) return false;
    const { kind } = await scrub(due, settings.scrubBytesPerSecond, signal);
    if (kind !== 'right') passed.add(due.file);
    return true;
  };

  return {
    start() {
      follower = follow({ name: 'scrub sealed files', step, clock, log, idleMs });
    },
    answered({ id, found }) {
      asked.get(id)?.(found);
      asked.delete(id);
    },
    onDeath() {
      for (const resolve of asked.values()) resolve({ kind: 'unknown', reason: 'the process died' });
      asked.clear();
    },
    async [Symbol.asyncDispose]() {
      await follower?.[Symbol.asyncDispose]();
    },
  };
}
