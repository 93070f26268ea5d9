/** The status of capture and sync, for GetStatus of the data manager and the status page. */
import type { JsonObject } from '@bufbuild/protobuf';
import type { Clock } from '@platform/base';
import type { Docdb } from '../docdb/docdb.ts';
import { type Backlog, backlogOf } from './backlog.ts';
import type { Reclaim } from './reclaim/reclaim.ts';
import type { Sync } from './sync.ts';

export interface DataStatusDeps {
  readonly capture: {
    counts(): readonly {
      /** Begins with the full name of the resource; for a running capture, a space and more text follow. */
      readonly key: string;
      readonly taken: number;
      readonly late: number;
      readonly held: number;
      readonly failed: number;
      readonly dropped: number;
      readonly queued: number;
    }[];
  };
  readonly sync: Sync;
  readonly reclaim: Pick<Reclaim, 'deletedFiles' | 'discarded'>;
  readonly docdb: Pick<Docdb, 'status'>;
  readonly clock: Clock;
}

/** Times are RFC 3339, or null. Numbers count from the start of the server, except `queued`, `waiting_files` and `quarantined_files`. */
export async function dataStatus({ capture, sync, reclaim, docdb, clock }: DataStatusDeps): Promise<JsonObject> {
  const backlog = await backlogOf(sync.captureDirectories());
  const resources = new Map<string, JsonObject>();
  const add = (name: string, more: JsonObject): void => void resources.set(name, { ...resources.get(name), ...more });
  for (const { key, taken, late, held, failed, dropped, queued } of capture.counts()) {
    const [name = key] = key.split(' ');
    const before = resources.get(name);
    const sum = (field: string, count: number): number => Number(before?.[field] ?? 0) + count;
    const missed = late + held + failed + dropped;
    add(name, { captured: sum('captured', taken), missed: sum('missed', missed), queued: sum('queued', queued) });
  }
  for (const [name, { files, quarantined, oldestMs }] of backlog)
    add(name, { waiting_files: files, quarantined_files: quarantined, oldest_waiting: timeText(oldestMs) });
  for (const [name, tally] of sync.tally.resources)
    add(name, {
      uploaded_files: tally.uploadedFiles,
      uploaded_readings: tally.uploadedReadings,
      failed_attempts: tally.failedAttempts,
      last_error: tally.lastError,
    });
  for (const [name, readings] of reclaim.discarded) add(name, { discarded_readings: readings });
  const { tally } = sync;
  const waiting = totals(backlog);
  const sum = (field: string): number =>
    resources.values().reduce((total, each) => total + Number(each[field] ?? 0), 0);
  return {
    state: syncStateOf({
      ...{ sends: sync.sends, heldReason: sync.heldReason, pause: pauseOf(sync, clock), lastError: tally.lastError },
      ...{ failedFiles: sync.attempts.failures.size, waitingFiles: Number(waiting.waiting_files) },
    }),
    ...waiting,
    uploading_files: sync.underWay,
    uploaded_files: tally.uploadedFiles,
    uploaded_readings: tally.uploadedReadings,
    failed_attempts: tally.failedAttempts,
    discarded_files: reclaim.deletedFiles,
    left_out_items: sync.omitted.count,
    ...{ captured: sum('captured'), missed: sum('missed'), queued: sum('queued') },
    discarded_readings: sum('discarded_readings'),
    next_attempt: nextAttempt(sync, clock),
    last_error: tally.lastError,
    time_zone: new Intl.DateTimeFormat().resolvedOptions().timeZone,
    document_database: { ...docdb.status() },
    resources: Object.fromEntries([...resources].toSorted(([a], [b]) => (a < b ? -1 : 1))),
  };
}

const longestError = 500;

/** The part that the cloud keeps for times when this machine is offline; undefined if nothing is captured or sent here. */
export async function dataTotals(deps: DataStatusDeps): Promise<JsonObject | undefined> {
  const { resources: _, ...status } = await dataStatus(deps);
  const isIdle = status['state'] === 'off' && !status['captured'] && !status['waiting_files'];
  if (isIdle) return undefined;
  const database = Object(status['document_database']);
  const short = (text: unknown): string => String(text ?? '').slice(0, longestError);
  return {
    ...status,
    state: short(status['state']),
    last_error: short(status['last_error']),
    document_database: { ...database, last_error: short(database.last_error) },
  };
}

function totals(backlog: Backlog): JsonObject {
  let [files, quarantined, oldestMs] = [0, 0, undefined as number | undefined];
  for (const each of backlog.values()) {
    files += each.files;
    quarantined += each.quarantined;
    if (each.oldestMs !== undefined && (oldestMs === undefined || each.oldestMs < oldestMs)) oldestMs = each.oldestMs;
  }
  return { waiting_files: files, quarantined_files: quarantined, oldest_waiting: timeText(oldestMs) };
}

/** docs/specs/states.md says what makes each true. After `held`, a colon and the reason follow. */
export const syncStates = ['off', 'held', 'waiting for the cloud', 'failing', 'on'] as const;

export interface SyncFacts {
  readonly sends: boolean;
  readonly heldReason: string | undefined;
  /** `waits`: the cloud does not answer, or requested a wait; `probes`: the wait is over, and no upload has succeeded since. */
  readonly pause: 'none' | 'waits' | 'probes';
  /** Files that wait for another attempt. */
  readonly failedFiles: number;
  readonly waitingFiles: number;
  /** Of the last attempt; empty: it succeeded, or there was none. */
  readonly lastError: string;
}

/** In one phrase: the first that is true. */
export function syncStateOf(facts: SyncFacts): string {
  const { sends, heldReason, pause, failedFiles, waitingFiles, lastError } = facts;
  if (!sends) return 'off';
  if (heldReason !== undefined) return `held: ${heldReason}`;
  if (pause === 'waits' || (pause === 'probes' && waitingFiles > 0)) return 'waiting for the cloud';
  return lastError !== '' && failedFiles > 0 ? 'failing' : 'on';
}

function pauseOf({ pausedUntil }: Sync, clock: Clock): SyncFacts['pause'] {
  if (pausedUntil === undefined) return 'none';
  return pausedUntil > clock.monotonic() ? 'waits' : 'probes';
}

/** When the first failed upload is retried. */
function nextAttempt(sync: Sync, clock: Clock): string | null {
  const times = [sync.attempts.earliest(), sync.pausedUntil].filter((time) => time !== undefined);
  if (times.length === 0) return null;
  return timeText(clock.now() + Math.max(0, Math.min(...times) - clock.monotonic()));
}

function timeText(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString();
}
