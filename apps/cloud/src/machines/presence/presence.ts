/**
 * Whether each part is in contact with the cloud (D17). Calls and open streams of a part are noted in memory; one loop turns
 * them into transitions and records those, with all that depends on them, in one transaction.
 *
 * States of a part and what moves it:
 *
 *   awaiting setup ── first contact ──▶ online ── no contact for 60 s, no stream open ──▶ offline ── contact ──▶ online …
 *
 * - Each transition has a number, 1 for the first contact and one more for each after it. State and number of a part are one
 *   row, written in the transaction that enqueues the notifications of that transition. So a kill before the commit leaves
 *   neither, a kill after it both, and the next process goes on from the row: each transition happens exactly once.
 * - 60 s are counted from the last contact or from the moment since which the cloud has been listening without a break,
 *   whichever is later. A break is a start of the cloud, or more than 5 s in which this process did not run: stopped, suspended or
 *   starved. While a computer is suspended only its wall clock goes on, while a process is stopped both do: both are watched.
 * - Memory: `seen` (last contact of each part in this process), `recorded` (the rows). A part that was seen while its row says
 *   offline, or that has none, waits in `arrived` for the next step.
 * - A part that no longer exists loses its row and fires nothing.
 */
import { type Clock, errorText, type Follower, follow, type Log } from '@platform/base';
import type { Transaction } from 'kysely';
import type { CloudTables, Database } from '../../metadata/tables.ts';
import { forgetPresence, loadPresence, type PresenceRow, savePresence } from './store.ts';

/** Silence after which a part is offline. */
const windowMs = 60_000;
/** How often silence is looked for; a part is offline at most so much later than after its window. */
const stepMs = 1_000;
/** Not having run for longer is a break. Far above what a busy process takes to come round, far below the window. */
const breakMs = 5_000;
/** Last contact is written down when what stands there is older … */
const coarseMs = 60_000;
/** … and at most so often, so that a large quiet fleet costs 4 commits a minute. */
const flushMs = 15_000;
/** Bounds a transaction: other writers wait for no more than this. */
const maxPerStep = 500;

export type PresenceState = 'online' | 'offline' | 'awaiting_setup';

export interface Transition {
  readonly partId: string;
  /** 1, 2, … for each part. */
  readonly number: number;
  readonly kind: 'online' | 'offline';
  /** Wall clock, ms. */
  readonly atMs: number;
}

/** What depends on transitions. */
export interface TransitionEffects {
  /** Runs in the transaction that records them, and awaits nothing else. */
  record(trx: Transaction<CloudTables>): Promise<void>;
  /** They are recorded. */
  committed(): void;
}

export interface PartPresence {
  readonly state: PresenceState;
  /** Wall clock, ms; null: never. */
  readonly lastSeenMs: number | null;
  /** Since when the state holds; null while awaiting setup. */
  readonly changedMs: number | null;
}

export interface PresenceDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly exists: (partId: string) => boolean;
  /** Runs before the transaction: what it must read, it reads here. */
  readonly onTransitions: (transitions: readonly Transition[]) => Promise<TransitionEffects>;
}

interface Seen {
  monotonicMs: number;
  wallMs: number;
  /** Streams. */
  open: number;
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
  #listeningSinceMs: number;
  #beat: { monotonicMs: number; wallMs: number };
  #flushedMs: number;
  #follower: Follower | null = null;
  #beating: Disposable | null = null;

  constructor(deps: PresenceDeps, recorded: Map<string, PresenceRow>) {
    this.#deps = deps;
    this.#recorded = recorded;
    this.#beat = { monotonicMs: deps.clock.monotonic(), wallMs: deps.clock.now() };
    this.#listeningSinceMs = this.#beat.monotonicMs;
    this.#flushedMs = this.#beat.monotonicMs;
  }

  /** A call of the part arrived. */
  saw(partId: string): void {
    this.#note(partId, 0);
  }

  /** A stream of the part is open: it counts as contact until the signal aborts. */
  attend(partId: string, signal: AbortSignal): void {
    this.#note(partId, signal.aborted ? 0 : 1);
    if (!signal.aborted) signal.addEventListener('abort', () => this.#note(partId, -1), { once: true });
  }

  #note(partId: string, opened: number): void {
    const { clock } = this.#deps;
    const seen = this.#seen.get(partId);
    if (seen === undefined) {
      this.#seen.set(partId, { monotonicMs: clock.monotonic(), wallMs: clock.now(), open: Math.max(0, opened) });
    } else {
      seen.monotonicMs = clock.monotonic();
      seen.wallMs = clock.now();
      seen.open = Math.max(0, seen.open + opened);
    }
    if (this.#recorded.get(partId)?.online === 1) return;
    // Those that arrive while others wait are found by the same step, or by the one that follows it.
    if (this.#arrived.size === 0) this.#follower?.wake();
    this.#arrived.add(partId);
  }

  of(partId: string): PartPresence {
    const row = this.#recorded.get(partId);
    const seen = this.#seen.get(partId);
    const lastSeenMs = seen?.wallMs ?? row?.last_seen_ms ?? null;
    // A contact counts before it is recorded.
    if (this.#arrived.has(partId)) return { state: 'online', lastSeenMs, changedMs: lastSeenMs };
    if (row === undefined) return { state: 'awaiting_setup', lastSeenMs: null, changedMs: null };
    return { state: row.online === 1 ? 'online' : 'offline', lastSeenMs, changedMs: row.changed_ms };
  }

  /** Begins to judge. From now on each part has a full window. */
  start(): void {
    const { clock, log } = this.#deps;
    this.#beat = { monotonicMs: clock.monotonic(), wallMs: clock.now() };
    this.#listeningSinceMs = this.#beat.monotonicMs;
    // A beat of its own: a step that waits long for the disk is no break.
    this.#beating = clock.every(stepMs, () => this.#noticeBreak());
    this.#follower = follow({ name: 'presence', step: () => this.step(), clock, log, idleMs: stepMs });
  }

  /** Records a bounded number of transitions; true when there are more. The loop calls it; tests do. */
  async step(): Promise<boolean> {
    // After a break the loop may come round before the beat does.
    this.#noticeBreak();
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
        await forgetPresence(trx, gone);
        await effects?.record(trx);
      });
      this.#took([...next, ...refreshed], gone);
      effects?.committed();
    }
    if (flushing && refreshed.length < maxPerStep) this.#flushedMs = clock.monotonic();
    return more || refreshed.length === maxPerStep || this.#arrived.size > 0;
  }

  /** Rows as they are after the transitions that are due, at most `maxPerStep`. */
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
      });
      return next.length >= maxPerStep;
    };
    for (const partId of this.#arrived) {
      if (!this.#deps.exists(partId)) {
        this.#arrived.delete(partId);
        this.#seen.delete(partId);
      } else if (add(partId, 1)) return { next, more: true };
    }
    const silentSinceMs = this.#deps.clock.monotonic() - windowMs;
    // Nobody's window is over yet.
    if (this.#listeningSinceMs > silentSinceMs) return { next, more: false };
    for (const [partId, row] of this.#recorded) {
      if (row.online !== 1 || !this.#deps.exists(partId)) continue;
      const seen = this.#seen.get(partId);
      if (seen !== undefined && (seen.open > 0 || seen.monotonicMs > silentSinceMs)) continue;
      if (add(partId, 0)) return { next, more: true };
    }
    return { next, more: false };
  }

  /** Rows whose written contact is that old, without those that are written anyway. */
  #refreshed(except: readonly PresenceRow[], olderMs: number, max: number): readonly PresenceRow[] {
    const written = new Set(except.map((row) => row.part_id));
    const rows: PresenceRow[] = [];
    for (const [partId, seen] of this.#seen) {
      const row = this.#recorded.get(partId);
      if (row === undefined || written.has(partId) || Math.abs(seen.wallMs - row.last_seen_ms) < olderMs) continue;
      rows.push({ ...row, last_seen_ms: seen.wallMs });
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

  #noticeBreak(): void {
    const { clock, log } = this.#deps;
    const now = { monotonicMs: clock.monotonic(), wallMs: clock.now() };
    const before = this.#beat;
    this.#beat = now;
    // Suspended computers stop the monotonic clock, stopped processes do not.
    const elapsedMs = Math.max(now.monotonicMs - before.monotonicMs, now.wallMs - before.wallMs);
    if (elapsedMs <= breakMs) return;
    this.#listeningSinceMs = now.monotonicMs;
    log.warn('the cloud was not running for a while; every part has a full window again', {
      seconds: Math.round(elapsedMs / 1_000),
    });
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
