/**
 * Whether each part is in contact with the cloud (D17). Calls of a part, and its messages on open ones, are recorded in memory; one loop
 * turns them into transitions and stores those, with all their effects, in one transaction.
 *
 * States of a part and their transitions:
 *
 *   awaiting setup ── first contact ──▶ online ── no contact for a window ──▶ offline ── contact ──▶ online …
 *
 * - Transitions of a part are numbered from 1, its first contact. Its state and number are one row, written in the transaction
 *   that enqueues the transition's notifications. A kill before the commit thus leaves neither, a kill after it both, and the
 *   next process continues from the row: each transition happens exactly once.
 * - An open connection is no contact: a proxy may hold it long after the machine has gone. The window is 60 s, which the heartbeats on a
 *   part's link fill, or its polls. A part that polls less often than heartbeats come, and has no link, gets a window of three polls.
 * - The window counts from the last contact, or from the start of the cloud, whichever is later. Time in which this process did not run
 *   is left out (counted-time.ts).
 * - Memory: `seen` (last contact of each part in this process), `recorded` (the rows). A part that was seen but whose row says
 *   offline, or that has no row, waits in `arrived` for the next step.
 * - The row of a part that no longer exists is deleted, without notifications.
 */
import { type ClockAndLog, errorText, type Follower, follow } from '@platform/base';
import type { Database, DatabaseTransaction } from '../../metadata/tables.ts';
import { CountedTime } from './counted-time.ts';
import {
  forgetPresence,
  loadPresence,
  type PresenceRow,
  pruneTransitions,
  savePresence,
  saveTransitions,
} from './store.ts';

const windowMs = 60_000;
/** Machine-servers send heartbeats this often on their link; a part that polls less often may need a longer window. */
const heartbeatMs = 20_000;
const pollsPerWindow = 3;
/** How often silence is checked; a part goes offline at most this long after its window. */
const stepMs = 1_000;
/** The last contact is stored when the stored value is older than this … */
const coarseMs = 60_000;
/** … and at most this often, so that a large quiet fleet costs 4 commits a minute. */
const flushMs = 15_000;
/** Limits the size of a transaction, and thus how long other writers wait. */
const maxPerStep = 500;

export type PresenceState = 'online' | 'offline' | 'awaiting_setup';

export interface Transition {
  readonly partId: string;
  /** 1, 2, … within each part. */
  readonly number: number;
  readonly kind: 'online' | 'offline';
  /** Wall clock, ms. */
  readonly atMs: number;
}

/** Effects of transitions. */
export interface TransitionEffects {
  /** Runs in the transaction that records them, and awaits nothing else. */
  record(trx: DatabaseTransaction): Promise<void>;
  /** Called after the commit. */
  committed(): void;
}

export interface PartPresence {
  readonly state: PresenceState;
  /** Wall clock, ms; null: never. */
  readonly lastSeenMs: number | null;
  /** Since when the part is in this state; null while awaiting setup. */
  readonly changedMs: number | null;
}

export interface PresenceDeps extends ClockAndLog {
  readonly db: Database;
  readonly exists: (partId: string) => boolean;
  /** Runs before the transaction, to read everything that the effects need. */
  readonly onTransitions: (transitions: readonly Transition[]) => Promise<TransitionEffects>;
}

interface Seen {
  /** Counted time. */
  atMs: number;
  wallMs: number;
  /** The last message on its link, in counted time. */
  linkMs: number;
  /** Between its polls; undefined: it has not polled since this cloud started. */
  pollMs: number | undefined;
}

export async function openPresence(deps: PresenceDeps): Promise<Presence> {
  const rows = await loadPresence(deps.db);
  return new Presence(deps, new Map(rows.map((row) => [row.part_id, row])));
}

export class Presence implements AsyncDisposable {
  readonly #deps: PresenceDeps;
  readonly #recorded: Map<string, PresenceRow>;
  readonly #seen = new Map<string, Seen>();
  readonly #arrived = new Set<string>();
  readonly #time: CountedTime;
  #flushedMs: number;
  #follower: Follower | null = null;
  #beating: Disposable | null = null;

  constructor(deps: PresenceDeps, recorded: Map<string, PresenceRow>) {
    this.#deps = deps;
    this.#recorded = recorded;
    this.#time = new CountedTime(deps.clock, ({ elapsedMs, brokeConnections }) =>
      deps.log.warn(
        brokeConnections
          ? 'the cloud was not running for a while; every part has a full window again'
          : 'the cloud was not running for a while; that time does not count as silence of parts',
        { seconds: Math.round(elapsedMs / 1_000) },
      ),
    );
    this.#flushedMs = deps.clock.monotonic();
  }

  /** A call of the part began, or a message of it arrived on an open call. */
  saw(partId: string): void {
    this.#note(partId);
  }

  /** A message of the part arrived on its link for remote control. */
  sawOnLink(partId: string): void {
    const seen = this.#note(partId);
    seen.linkMs = seen.atMs;
  }

  /** The part asks for its configuration this often. */
  polls(partId: string, everyMs: number): void {
    this.#note(partId).pollMs = everyMs;
  }

  #note(partId: string): Seen {
    const { clock } = this.#deps;
    const before = this.#seen.get(partId);
    const seen = before ?? { atMs: 0, wallMs: 0, linkMs: Number.NEGATIVE_INFINITY, pollMs: undefined };
    seen.atMs = this.#time.now();
    seen.wallMs = clock.now();
    if (before === undefined) this.#seen.set(partId, seen);
    if (this.#recorded.get(partId)?.online === 1) return seen;
    // Wake the loop only for the first arrival: this step or the next one finds the others.
    if (this.#arrived.size === 0) this.#follower?.wake();
    this.#arrived.add(partId);
    return seen;
  }

  of(partId: string): PartPresence {
    const row = this.#recorded.get(partId);
    const seen = this.#seen.get(partId);
    const lastSeenMs = seen?.wallMs ?? row?.last_seen_ms ?? null;
    // A contact counts even before it is recorded.
    if (this.#arrived.has(partId)) return { state: 'online', lastSeenMs, changedMs: lastSeenMs };
    if (row === undefined) return { state: 'awaiting_setup', lastSeenMs: null, changedMs: null };
    return { state: row.online === 1 ? 'online' : 'offline', lastSeenMs, changedMs: row.changed_ms };
  }

  /** Starts making transitions. Each part has a full window from now on. */
  start(): void {
    const { clock, log } = this.#deps;
    this.#time.start();
    // Runs separately from the steps: a step that waits long for the disk is not a pause.
    this.#beating = clock.every(stepMs, () => void this.#time.now());
    this.#follower = follow({ name: 'presence', step: () => this.step(), clock, log, idleMs: stepMs });
  }

  /** Records a bounded number of transitions; returns true if there are more. Called by the loop and by tests. */
  async step(): Promise<boolean> {
    const { db, clock, onTransitions } = this.#deps;
    const atMs = clock.now();
    const gone = this.#gone();
    const { next, more } = this.#next(atMs);
    const flushing = next.length < maxPerStep && clock.monotonic() - this.#flushedMs >= flushMs;
    const refreshed = flushing ? this.#refreshed(next, coarseMs, maxPerStep) : [];
    if (next.length + refreshed.length + gone.length > 0) {
      const transitions = next.map((row) => transitionOf(row));
      const effects = transitions.length > 0 ? await onTransitions(transitions) : null;
      await db.transaction().execute(async (trx) => {
        await savePresence(trx, [...next, ...refreshed]);
        await saveTransitions(trx, next);
        if (flushing) await pruneTransitions(trx, atMs);
        await forgetPresence(trx, gone);
        await effects?.record(trx);
      });
      this.#took([...next, ...refreshed], gone);
      effects?.committed();
    }
    if (flushing && refreshed.length < maxPerStep) this.#flushedMs = clock.monotonic();
    return more || refreshed.length === maxPerStep || this.#arrived.size > 0;
  }

  /** Rows after the due transitions, at most `maxPerStep`. */
  #next(atMs: number): { next: readonly PresenceRow[]; more: boolean } {
    const next: PresenceRow[] = [];
    const add = (partId: string, online: number): boolean => {
      const row = this.#recorded.get(partId);
      const lastSeenMs = this.#seen.get(partId)?.wallMs ?? row?.last_seen_ms ?? atMs;
      next.push({
        part_id: partId,
        online,
        number: (row?.number ?? 0) + 1,
        changed_ms: atMs,
        last_seen_ms: lastSeenMs,
        poll_ms: this.#pollMs(partId),
      });
      return next.length >= maxPerStep;
    };
    for (const partId of this.#arrived) {
      if (!this.#deps.exists(partId)) {
        this.#arrived.delete(partId);
        this.#seen.delete(partId);
      } else if (add(partId, 1)) return { next, more: true };
    }
    const nowMs = this.#time.now();
    for (const [partId, row] of this.#recorded) {
      if (row.online !== 1 || !this.#isSilent(partId, nowMs) || !this.#deps.exists(partId)) continue;
      if (add(partId, 0)) return { next, more: true };
    }
    return { next, more: false };
  }

  /** @param nowMs counted time */
  #isSilent(partId: string, nowMs: number): boolean {
    const seen = this.#seen.get(partId);
    const silentMs = nowMs - Math.max(seen?.atMs ?? Number.NEGATIVE_INFINITY, this.#time.listeningSinceMs);
    if (silentMs < windowMs) return false;
    const pollMs = this.#pollMs(partId);
    if (pollMs <= heartbeatMs) return true;
    const isLinked = seen !== undefined && nowMs - seen.linkMs < pollsPerWindow * pollMs;
    return isLinked || silentMs >= pollsPerWindow * pollMs;
  }

  #pollMs(partId: string): number {
    return this.#seen.get(partId)?.pollMs ?? this.#recorded.get(partId)?.poll_ms ?? 0;
  }

  /** Rows whose stored contact is at least this old, or whose polls changed, except those that are written anyway. */
  #refreshed(except: readonly PresenceRow[], olderMs: number, max: number): readonly PresenceRow[] {
    const written = new Set(except.map((row) => row.part_id));
    const rows: PresenceRow[] = [];
    for (const [partId, seen] of this.#seen) {
      const row = this.#recorded.get(partId);
      if (row === undefined || written.has(partId)) continue;
      const pollMs = this.#pollMs(partId);
      if (Math.abs(seen.wallMs - row.last_seen_ms) < olderMs && pollMs === row.poll_ms) continue;
      rows.push({ ...row, last_seen_ms: seen.wallMs, poll_ms: pollMs });
      if (rows.length >= max) break;
    }
    return rows;
  }

  #gone(): readonly string[] {
    const gone: string[] = [];
    for (const partId of this.#recorded.keys()) if (!this.#deps.exists(partId)) gone.push(partId);
    return gone;
  }

  #took(rows: readonly PresenceRow[], gone: readonly string[]): void {
    for (const row of rows) {
      this.#recorded.set(row.part_id, row);
      if (row.online === 1) this.#arrived.delete(row.part_id);
      // The part was in contact while its offline transition was being recorded.
      else if ((this.#seen.get(row.part_id)?.wallMs ?? row.last_seen_ms) !== row.last_seen_ms)
        this.#arrived.add(row.part_id);
    }
    for (const partId of gone) {
      this.#recorded.delete(partId);
      this.#seen.delete(partId);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#beating?.[Symbol.dispose]();
    await this.#follower?.[Symbol.asyncDispose]();
    const rows = this.#refreshed([], 1, Number.POSITIVE_INFINITY);
    if (rows.length === 0) return;
    await this.#deps.db
      .transaction()
      .execute((trx) => savePresence(trx, rows))
      .catch((caught: unknown) =>
        this.#deps.log.warn('the last contact could not be recorded', { error: errorText(caught) }),
      );
  }
}

function transitionOf(row: PresenceRow): Transition {
  return {
    partId: row.part_id,
    number: row.number,
    kind: row.online === 1 ? 'online' : 'offline',
    atMs: row.changed_ms,
  };
}
