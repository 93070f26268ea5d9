/**
 * What each part runs, as far as known (D9, D10): the revision that it last fetched, and its own reports.
 *
 * saved (a version) → fetched (RobotService.Config returned it) → applied (the part reports it; public servers never do). A newer revision
 * that the part delays until its maintenance window is `held`; an owner may force it. The current value is in memory; a row is written only
 * when something changes, never for a poll without changes.
 */
import type { JsonObject } from '@bufbuild/protobuf';
import { type Clock, failedPrecondition, invalidArgument } from '@platform/base';
import type { Selectable } from 'kysely';
import type { Database, DatabaseTransaction } from '../metadata/tables.ts';
import type { MachinesTables } from './store.ts';

/** More frequent changes (two servers with one part's credentials) are written at a later poll. */
const writeEveryMs = 10_000;
const maxTextLength = 2_000;
const maxDataBytes = 4_096;
/** After holding for this long, the machine log reports it, once (D9). */
export const longHoldMs: number = 24 * 3_600_000;

export type PartStatus = Readonly<Omit<Selectable<MachinesTables['part_status']>, 'part_id'>>;

/** What a machine-server reports about itself; undefined: not reported. */
export interface ServerFacts {
  readonly serverVersion?: string | undefined;
  readonly platform?: string | undefined;
  readonly os?: string | undefined;
}

export interface Report extends ServerFacts {
  readonly appliedRevision: string;
  /** Empty: nothing is held. */
  readonly heldRevision: string;
  /** Why it is held. */
  readonly heldReason: string;
  /** Empty: the last configuration was applied without an error. */
  readonly lastError: string;
  /** The state of capture and sync; undefined: not included in this report. */
  readonly dataStatus?: JsonObject | undefined;
}

export interface PartStatuses {
  of(partId: string): PartStatus;
  /** The part received this revision. Returns at once. */
  fetched(partId: string, revision: string, server: ServerFacts): void;
  /** The part reported what it runs; resolves once the report is stored. */
  report(partId: string, report: Report): Promise<void>;
  /**
   * Lets the part apply exactly the revision that it holds (D9), and no later one. Returns that revision.
   *
   * @param revision the expected one; empty: whichever is held
   * @param record runs in the transaction that stores the change
   * @throws failed_precondition if the part holds nothing, or another revision
   */
  force(
    partId: string,
    revision: string,
    record: (trx: DatabaseTransaction, revision: string) => Promise<void>,
  ): Promise<string>;
  forget(partId: string): void;
}

const unknown: PartStatus = {
  fetched_revision: '',
  fetched_ms: 0,
  applied_revision: '',
  applied_ms: 0,
  held_revision: '',
  held_ms: 0,
  held_reason: '',
  held_told_ms: 0,
  forced_revision: '',
  forced_ms: 0,
  last_error: '',
  last_error_ms: 0,
  server_version: '',
  platform: '',
  os: '',
  data_status: '',
  data_status_ms: 0,
};

export async function openPartStatuses(deps: {
  readonly db: Database;
  readonly clock: Clock;
  readonly exists: (partId: string) => boolean;
  /** Called once for each hold, after the part has held a configuration for a day. */
  readonly onLongHold: (partId: string, status: PartStatus) => Promise<void>;
  readonly onWriteFailure: (caught: unknown) => void;
}): Promise<PartStatuses> {
  const { db, clock, exists, onLongHold, onWriteFailure } = deps;
  const statuses = new Map<string, PartStatus>();
  const written = new Map<string, { status: PartStatus; atMs: number }>();
  for (const { part_id: partId, ...status } of await db.selectFrom('part_status').selectAll().execute()) {
    statuses.set(partId, status);
    written.set(partId, { status, atMs: Number.NEGATIVE_INFINITY });
  }

  const of = (partId: string): PartStatus => statuses.get(partId) ?? unknown;
  const writeNow = async (partId: string): Promise<void> => {
    const status = of(partId);
    const before = written.get(partId);
    if (before?.status === status || !exists(partId)) return;
    written.set(partId, { status, atMs: clock.monotonic() });
    try {
      await db
        .insertInto('part_status')
        .values({ part_id: partId, ...status })
        .onConflict((conflict) => conflict.column('part_id').doUpdateSet({ ...status }))
        .execute();
    } catch (caught) {
      // The write failed: the next change or poll tries again.
      if (written.get(partId)?.status === status) {
        if (before === undefined) written.delete(partId);
        else written.set(partId, before);
      }
      throw caught;
    }
  };
  /** Writes of a part run one after another: simultaneous writes might leave the older status in the store. */
  const writing = new Map<string, Promise<void>>();
  const write = (partId: string): Promise<void> => {
    const now = (): Promise<void> => writeNow(partId);
    const done = (writing.get(partId) ?? Promise.resolve()).then(now, now);
    const forget = (): void => {
      if (writing.get(partId) === done) writing.delete(partId);
    };
    writing.set(partId, done);
    done.then(forget, forget);
    return done;
  };
  const change = (partId: string, next: PartStatus): void => {
    const before = of(partId);
    const isSame = Object.entries(next).every(([key, value]) => before[key as keyof PartStatus] === value);
    if (!isSame) statuses.set(partId, next);
  };

  return {
    of,
    fetched(partId, revision, server) {
      const before = of(partId);
      const isNew = before.fetched_revision !== revision;
      change(partId, {
        ...withServer(before, server),
        ...(isNew ? { fetched_revision: revision, fetched_ms: clock.now() } : {}),
      });
      if (clock.monotonic() - (written.get(partId)?.atMs ?? Number.NEGATIVE_INFINITY) >= writeEveryMs)
        write(partId).catch(onWriteFailure);
    },
    async report(partId, { appliedRevision, heldRevision, heldReason, lastError, dataStatus, ...server }) {
      const data = dataStatus === undefined ? undefined : dataText(dataStatus);
      const before = of(partId);
      const applied = appliedRevision.slice(0, maxTextLength);
      const held = heldRevision.slice(0, maxTextLength);
      const error = lastError.slice(0, maxTextLength);
      const nowMs = clock.now();
      // Start of the hold: a newer revision that replaces the held one does not restart it.
      const heldMs = held === '' ? 0 : before.held_revision === '' ? nowMs : before.held_ms;
      const isLong = held !== '' && nowMs - heldMs >= longHoldMs;
      change(partId, {
        ...withServer(before, server),
        ...(data === undefined ? {} : { data_status: data, data_status_ms: nowMs }),
        ...(before.applied_revision === applied ? {} : { applied_revision: applied, applied_ms: nowMs }),
        held_revision: held,
        held_ms: heldMs,
        held_reason: held === '' ? '' : heldReason.slice(0, maxTextLength),
        held_told_ms: held === '' ? 0 : before.held_told_ms === 0 && isLong ? nowMs : before.held_told_ms,
        // A force applies only to the revision held at the time: that one now runs, or another has replaced it.
        ...(before.forced_revision === held ? {} : { forced_revision: '', forced_ms: 0 }),
        ...(before.last_error === error ? {} : { last_error: error, last_error_ms: error === '' ? 0 : nowMs }),
      });
      if (before.held_told_ms === 0 && of(partId).held_told_ms !== 0) await onLongHold(partId, of(partId));
      await write(partId);
    },
    async force(partId, revision, record) {
      const { held_revision: held } = of(partId);
      if (held === '' || (revision !== '' && revision !== held)) {
        const found = held === '' ? 'nothing is held back' : `found ${held}`;
        const expected = revision === '' ? 'a configuration' : `revision ${revision}`;
        throw failedPrecondition(
          `ForceConfiguration of part ${partId}: expected ${expected} to wait for the maintenance window, ${found}; call GetPartStatus to see what the part runs`,
        );
      }
      const forced = { forced_revision: held, forced_ms: clock.now() };
      await db.transaction().execute(async (trx) => {
        await trx.updateTable('part_status').set(forced).where('part_id', '=', partId).execute();
        await record(trx, held);
      });
      // The revision may have been applied or replaced in the meantime.
      if (of(partId).held_revision === held) change(partId, { ...of(partId), ...forced });
      await write(partId);
      return held;
    },
    forget(partId) {
      statuses.delete(partId);
      written.delete(partId);
    },
  };
}

function dataText(status: JsonObject): string {
  const text = JSON.stringify(status);
  const bytes = Buffer.byteLength(text);
  if (bytes <= maxDataBytes) return text;
  throw invalidArgument(
    `ReportPartStatus: data_status: expected at most ${maxDataBytes} bytes of JSON, found ${bytes}`,
  );
}

function withServer(status: PartStatus, { serverVersion, platform, os }: ServerFacts): PartStatus {
  const text = (told: string | undefined, known: string): string =>
    told === undefined || told === '' ? known : told.slice(0, 200);
  return {
    ...status,
    server_version: text(serverVersion, status.server_version),
    platform: text(platform, status.platform),
    os: text(os, status.os),
  };
}
