/** For tests: a sync of one capture directory with a fake cloud. Only `flush` sends. */
import { type Clock, createLog, systemClock } from '@platform/base';
import { SeqLedger } from '../directories/seq-ledger.ts';
import { damagedReadings } from '../gaps/lost-readings.ts';
import type { SyncSettings } from '../sync/rules/sync-settings.ts';
import { Sync } from '../sync/sync.ts';
import { type FakeCaptureLink, fakeCaptureLink } from './fake-capture-link.ts';

/** Only `flush` sends. */
export const quietly: SyncSettings = {
  ...{ intervalMs: 3_600_000, disabled: true, threads: 1, tags: [], additionalPaths: [], unmodifiedMs: 0 },
  ...{ after: { action: 'delete' }, newestFirst: false, priorities: {}, maxBytesPerSecond: 0 },
};

export interface TestSync {
  readonly sync: Sync;
  readonly link: FakeCaptureLink;
  /** Monotonic time, which stands still. */
  readonly time: { ms: number };
  /** Readings lost to damage, by name of the resource. */
  readonly gaps: Map<string, number>;
  /** Lines of the log, with their level. */
  readonly told: string[];
}

/** @param directories the first one also contains the home */
export function createSync(...directories: readonly [string, ...string[]]): TestSync {
  const time = { ms: 0 };
  return { ...createSyncWith({ ...systemClock, monotonic: () => time.ms }, directories), time };
}

export function createSyncWith(clock: Clock, directories: readonly [string, ...string[]]): Omit<TestSync, 'time'> {
  const link = fakeCaptureLink();
  const gaps = new Map<string, number>();
  const told: string[] = [];
  const sync = new Sync({
    ...{ home: directories[0], partId: 'part', link, ledger: new SeqLedger(), clock },
    captureDirectories: () => directories,
    seal: async () => {},
    damaged: (contents) => {
      const lost = damagedReadings(contents);
      if (lost !== undefined) gaps.set(lost.series.name, (gaps.get(lost.series.name) ?? 0) + lost.readings);
    },
    log: createLog((level, _logger, message) => told.push(`${level} ${message}`)),
  });
  sync.configure(quietly, async () => undefined);
  return { sync, link, gaps, told };
}
