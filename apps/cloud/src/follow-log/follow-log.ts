/**
 * Follows the ingest log for one feature: reads the rows after its cursor, hands them over, and moves the cursor in the transaction that
 * writes what they lead to (I11), so that each upload is processed once whatever ends the process in between.
 *
 * Rows that lead to nothing move the cursor in memory; it is written at most 250 ms later, because processing them again is harmless and
 * a sync for each upload is not. A row that the log has lost is noted, and one that cannot be read is marked as damaged; both are passed.
 * A step that fails for any other reason is tried again, later and later, and never skipped.
 */
import { setImmediate } from 'node:timers/promises';
import { type Clock, type Follower, follow, type Log, PlatformError } from '@platform/base';
import type { Kysely, Transaction } from 'kysely';
import type { IngestLog, LogRow, LossIn } from '../ingest/log/log.ts';
import { moveCursor, openCursor, readCursor } from './cursor.ts';
import type { LogCursorsTables } from './store.ts';

export interface FollowLogOptions<Tables extends LogCursorsTables> {
  /** Of the cursor, of what is lost with an upload, and in messages. */
  readonly name: LossIn;
  readonly db: Kysely<Tables>;
  readonly ingestLog: Pick<IngestLog, 'follow' | 'lastPosition' | 'onCommit' | 'markDamaged' | 'noteLoss'>;
  /** Where a follower that never ran begins. */
  readonly beginAfter: () => Promise<number>;
  /** Throws when something else than a row is at fault: the step is tried again. */
  readonly process: (rows: readonly LogRow[]) => Promise<Processed<Tables>>;
  readonly clock: Clock;
  readonly log: Log;
}

/** What came of the rows of a step. */
export interface Processed<Tables> {
  /** Position of the last row that is processed; what comes after it comes with the next step. Absent: all are. */
  readonly upTo?: number;
  /** Rows that cannot be read. */
  readonly damaged?: readonly { readonly row: LogRow; readonly reason: string }[];
  /** Writes what the rows lead to, in the transaction that moves the cursor. Absent: they lead to nothing. */
  readonly write?: (trx: Transaction<Tables>) => Promise<void>;
  /** Runs after the commit. */
  readonly written?: () => void;
}

export interface LogFollower extends AsyncDisposable {
  start(): Promise<void>;
  /** All rows of the log up to here are processed, durably: it may be truncated up to here (I12). */
  cursor(): Promise<number>;
  /** Processed up to here, perhaps not durably. */
  position(): number;
  /**
   * Resolves once everything acknowledged before the call is processed (I7): its position.
   *
   * @throws unavailable after 5 s: an error rather than a partial answer; the signal's reason
   */
  caughtUp(signal: AbortSignal): Promise<number>;
  /** Rows that wait to be processed, and failures in a row: a stuck follower is an alarm (I12). */
  lag(): { readonly rows: number; readonly failures: number };
  /** The steps themselves, for tests that run them one by one instead of `start`. */
  readonly steps: {
    open(): Promise<void>;
    /** Processes the next rows; true: there may be more. */
    next(): Promise<boolean>;
    /** Writes the cursor if it is ahead of the table. */
    flush(): Promise<void>;
  };
}

/** Bounds of one step, and with it of one transaction. */
const stepLimit = { rows: 256, bytes: 8 * 1024 * 1024 };
const cursorWriteMs = 250;
const idleMs = 250;
/** Longer than any pause but a fault's. */
const maxCatchUpMs = 5_000;

export function followLog<Tables extends LogCursorsTables>(options: FollowLogOptions<Tables>): LogFollower {
  const { name, db, ingestLog, beginAfter, process, clock, log } = options;
  // Kysely's types tell no generic table from another.
  const cursors = db as unknown as Kysely<LogCursorsTables>;
  const waiting = new Set<{ readonly position: number; readonly resolve: () => void }>();
  let position = 0;
  let writtenPosition = 0;
  let writtenAtMs = 0;
  let follower: Follower | undefined;
  let listening: Disposable | undefined;

  const open = async (): Promise<void> => {
    position = await openCursor(cursors, name, beginAfter);
    writtenPosition = position;
  };

  const write = async (to: number, also?: (trx: Transaction<Tables>) => Promise<void>): Promise<void> => {
    await db.transaction().execute(async (trx) => {
      await moveCursor(trx as unknown as Transaction<LogCursorsTables>, name, { from: writtenPosition, to });
      await also?.(trx);
    });
    writtenPosition = to;
    writtenAtMs = clock.monotonic();
  };

  const flush = async (): Promise<void> => {
    if (position !== writtenPosition) await write(position);
  };

  const passed = (to: number): void => {
    position = to;
    for (const one of waiting) if (one.position <= to) one.resolve();
  };

  const next = async (): Promise<boolean> => {
    const rows = await ingestLog.follow(position, stepLimit);
    const last = rows.at(-1);
    const isDue = clock.monotonic() - writtenAtMs >= cursorWriteMs;
    if (last === undefined) {
      if (isDue) await flush();
      return false;
    }
    for (const { damage } of rows) if (damage !== undefined) await ingestLog.noteLoss(name, damage);
    const sound = rows.filter(({ damage }) => damage === undefined);
    const { upTo = last.position, damaged = [], write: also, written } = await process(sound);
    for (const { row, reason } of damaged) {
      log.error('an upload could not be read; it is marked as damaged and skipped', {
        ...{ position: row.position, partId: row.partId, reason },
      });
      await ingestLog.markDamaged(row.position, reason);
    }
    // Catching up without a single wait would leave the process deaf.
    if (also === undefined && !isDue) await setImmediate();
    else await write(upTo, also);
    passed(upTo);
    written?.();
    return true;
  };

  return {
    steps: { open, next, flush },
    async start() {
      await open();
      const started = follow({ name, step: next, clock, log, idleMs });
      follower = started;
      listening = ingestLog.onCommit(() => started.wake());
    },
    cursor: () => readCursor(cursors, name),
    position: () => position,
    async caughtUp(signal) {
      const wanted = ingestLog.lastPosition();
      if (position >= wanted) return wanted;
      const arrived = Promise.withResolvers<true>();
      const one = { position: wanted, resolve: () => arrived.resolve(true) };
      const stop = new AbortController();
      waiting.add(one);
      try {
        const late = clock.sleep(maxCatchUpMs, AbortSignal.any([signal, stop.signal])).then(() => false);
        // What loses the race is not waited for.
        late.catch(() => {});
        if (await Promise.race([arrived.promise, late])) return wanted;
      } finally {
        waiting.delete(one);
        stop.abort();
      }
      throw new PlatformError(
        'unavailable',
        `${name}: expected all uploads up to position ${wanted} within ${maxCatchUpMs / 1_000} s, found them only up to ${position}; try again in a moment`,
      );
    },
    lag: () => ({
      rows: Math.max(0, ingestLog.lastPosition() - position),
      failures: follower?.failures ?? 0,
    }),
    async [Symbol.asyncDispose]() {
      listening?.[Symbol.dispose]();
      await follower?.[Symbol.asyncDispose]();
      if (follower !== undefined) await flush();
    },
  };
}
