/**
 * Follows the ingest log for one feature. It reads the rows after its cursor, passes them on, and moves the cursor in the transaction that
 * writes their effects (I11). Each upload is therefore processed once, even if the process ends in between.
 *
 * Rows without effects move the cursor in memory; it is written at most 250 ms later, because processing such rows again is harmless and a
 * sync per upload is expensive. A lost row is recorded, and an unreadable one is marked as damaged; both are skipped. A step that fails for
 * any other reason is retried with increasing delays, and never skipped.
 */
import { setImmediate } from 'node:timers/promises';
import { type ClockAndLog, type Follower, finishAll, follow, unavailable } from '@platform/base';
import type { Kysely, Transaction } from 'kysely';
import type { IngestLog, LogRow, LossIn } from '../ingest/log/log.ts';
import { moveCursor, openCursor, readCursor } from './cursor.ts';
import type { LogCursorsTables } from './store.ts';

export interface FollowLogOptions<Tables extends LogCursorsTables> extends ClockAndLog {
  /** Name of the cursor and of losses; also used in error texts. */
  readonly name: LossIn;
  readonly db: Kysely<Tables>;
  readonly ingestLog: Pick<IngestLog, 'follow' | 'lastPosition' | 'onCommit' | 'markDamaged' | 'recordLoss'>;
  /** Where a follower begins that has never run. */
  readonly beginAfter: () => Promise<number>;
  /** Throws when something other than a row is at fault; the step is then retried. */
  readonly process: (rows: readonly LogRow[]) => Promise<Processed<Tables>>;
  /**
   * The feature's timed work, in order with the rows: called every second, even while rows keep arriving, and again at once while it
   * reports that there is more.
   *
   * @param asOfMs everything accepted before this time has been processed; undefined: unknown, because the follower is behind
   */
  readonly atTimes?: (
    asOfMs: number | undefined,
  ) => Promise<Pick<Processed<Tables>, 'write' | 'written'> & { more: boolean }>;
  /** For a follower all of whose rows have effects that can be summed: many steps then share a transaction. */
  readonly gathered?: Gathered<Tables>;
}

/**
 * Effects that are kept in memory for a while (`Processed.gather`). Until they are written the cursor does not move, so a restart gathers
 * them again.
 */
export interface Gathered<Tables> {
  /** They are written at most this often, ms, unless someone waits for them (`caughtUp`). */
  readonly everyMs: number;
  /** Forgets everything: they have been written, or the follower starts over from its cursor. */
  begin(): void;
  /** Writes them in the transaction that moves the cursor. */
  write(trx: Transaction<Tables>): Promise<void>;
}

/** The result of a step's rows. */
export interface Processed<Tables> {
  /** Position of the last processed row; later rows are passed to the next step. Absent: all are processed. */
  readonly upTo?: number;
  /** Rows that cannot be read. */
  readonly damaged?: readonly { readonly row: LogRow; readonly reason: string }[];
  /** Adds the effects of the rows to memory, for a follower that gathers. Runs once for each row, as nothing can fail after it. */
  readonly gather?: () => void;
  /** Writes the effects of the rows in the transaction that moves the cursor. Absent: they have none. */
  readonly write?: (trx: Transaction<Tables>) => Promise<void>;
  /** Runs after the commit. */
  readonly written?: () => void;
}

export interface LogFollower extends AsyncDisposable {
  start(): Promise<void>;
  /** All rows up to here are durably processed, so the log may be truncated up to here (I12). */
  cursor(): Promise<number>;
  /** All rows up to here are processed, but perhaps not durably, and gathered effects may not yet be written. */
  position(): number;
  /**
   * Resolves with the position once everything acknowledged before the call is processed, and gathered effects are written (I7).
   *
   * @throws unavailable after 5 s, instead of a partial answer; the signal's reason
   */
  caughtUp(signal: AbortSignal): Promise<number>;
  /** Rows waiting to be processed, and consecutive failures; a stuck follower is an alarm (I12). */
  lag(): { readonly rows: number; readonly failures: number };
  /** The individual steps, for tests that run them one by one instead of `start`. */
  readonly steps: {
    open(): Promise<void>;
    /** Processes the next rows; true: there may be more. */
    next(): Promise<boolean>;
    /** Writes the cursor if it is ahead of the table. */
    flush(): Promise<void>;
  };
}

/** Limits of one step, and so of one transaction. */
const stepLimit = { rows: 256, bytes: 8 * 1024 * 1024 };
const cursorWriteMs = 250;
const idleMs = 250;
const atTimesMs = 1_000;
/** An upload is accepted a moment before it is in the log. */
const acceptingMs = 2_000;
/** Longer than any normal pause. */
const maxCatchUpMs = 5_000;

const nothing = Promise.resolve();

export function followLog<Tables extends LogCursorsTables>(options: FollowLogOptions<Tables>): LogFollower {
  const { name, db, ingestLog, beginAfter, process, gathered, clock, log } = options;
  // Kysely's types cannot distinguish generic tables.
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
    gathered?.begin();
  };

  /** Everything up to this position is done in the sense of `caughtUp`. */
  const done = (): number => (gathered === undefined ? position : writtenPosition);
  const tellWaiting = (): void => {
    for (const one of waiting) if (one.position <= done()) one.resolve();
  };
  const isDue = (): boolean =>
    (gathered !== undefined && waiting.size > 0) ||
    clock.monotonic() - writtenAtMs >= (gathered?.everyMs ?? cursorWriteMs);

  const write = async (to: number, also?: (trx: Transaction<Tables>) => Promise<void>): Promise<void> => {
    await db.transaction().execute(async (trx) => {
      // The store executes statements in order; waiting for each would add the time of a round trip.
      await finishAll([
        moveCursor(trx as unknown as Transaction<LogCursorsTables>, name, { from: writtenPosition, to }),
        also?.(trx) ?? nothing,
        gathered?.write(trx) ?? nothing,
      ]);
    });
    gathered?.begin();
    writtenPosition = to;
    writtenAtMs = clock.monotonic();
    if (gathered !== undefined) tellWaiting();
  };

  const flush = async (): Promise<void> => {
    if (position !== writtenPosition) await write(position);
  };

  const passed = (to: number): void => {
    position = to;
    if (gathered === undefined) tellWaiting();
  };

  let timesAtMs = Number.NEGATIVE_INFINITY;
  const atTimes = async (asOfMs: number | undefined): Promise<boolean> => {
    if (options.atTimes === undefined || clock.monotonic() - timesAtMs < atTimesMs) return false;
    const { write: effects, written, more } = await options.atTimes(asOfMs);
    if (effects !== undefined) await write(position, effects);
    written?.();
    if (!more) timesAtMs = clock.monotonic();
    return more;
  };

  const next = async (): Promise<boolean> => {
    const beganMs = clock.now();
    const rows = await ingestLog.follow(position, stepLimit);
    const last = rows.at(-1);
    // If there are fewer rows than that, they include all of the latest.
    const more = await atTimes(rows.length < stepLimit.rows / 2 ? beganMs - acceptingMs : undefined);
    if (last === undefined) {
      if (isDue()) await flush();
      return more;
    }
    for (const { damage } of rows) if (damage !== undefined) await ingestLog.recordLoss(name, damage);
    const sound = rows.filter(({ damage }) => damage === undefined);
    const { upTo = last.position, damaged = [], gather, write: also, written } = await process(sound);
    for (const { row, reason } of damaged) {
      log.error('an upload could not be read; it is marked as damaged and skipped', {
        ...{ position: row.position, partId: row.partId, reason },
      });
      await ingestLog.markDamaged(row.position, reason);
    }
    if (gathered !== undefined) {
      // In the same step, so that rows are gathered once, whatever fails before or after.
      gather?.();
      passed(upTo);
    }
    // Yield, because catching up without a single wait would block the process.
    if (also === undefined && !isDue()) await setImmediate();
    else await write(upTo, also);
    if (gathered === undefined) passed(upTo);
    written?.();
    return true;
  };

  return {
    steps: { open, next, flush },
    async start() {
      await open();
      const started = follow({ name, step: next, clock, log, idleMs: gathered?.everyMs ?? idleMs });
      follower = started;
      listening = ingestLog.onCommit(() => started.wake());
    },
    cursor: () => readCursor(cursors, name),
    position: () => position,
    async caughtUp(signal) {
      const wanted = ingestLog.lastPosition();
      if (done() >= wanted) return wanted;
      const arrived = Promise.withResolvers<true>();
      const one = { position: wanted, resolve: () => arrived.resolve(true) };
      const stop = new AbortController();
      waiting.add(one);
      if (gathered !== undefined) follower?.wake();
      try {
        const late = clock.sleep(maxCatchUpMs, AbortSignal.any([signal, stop.signal])).then(() => false);
        // The loser of the race is ignored.
        late.catch(() => {});
        if (await Promise.race([arrived.promise, late])) return wanted;
      } finally {
        waiting.delete(one);
        stop.abort();
      }
      throw unavailable(
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
