/**
 * Keeps messages that wait for targets without room from slowing down the others: due ones are marked as held (`held` = 1), and the query
 * for due messages skips them. Otherwise each query would walk everything that waits for a target that hangs.
 *
 * States of a pending message: not held → held (once a second, for targets that had no room at two queries in a row) → not held (an attempt
 * was recorded, or someone resumed the target or requested the delivery again), or failed (`overdue`: it was due for so long that it is
 * given up).
 *
 * Invariant: the target of every pending message that is held is in `#targets`. Only `holdDue` holds messages, and it adds the target
 * first; a target is forgotten only when a query has found none of its messages held; whatever makes a message pending again also releases
 * it; and after a start `load` reads the targets. So each due message is found: if not held, by the query for all; if held, by the query
 * for its target. A message that was given up is neither pending nor held, and its target stays in `#targets` until a query finds nothing
 * there.
 */
import { type Clock, chunks } from '@platform/base';
import { sql } from 'kysely';
import type { ChannelName, OutboxDatabase, OutboxMessageRow } from '../store.ts';

export type Due = Pick<OutboxMessageRow, 'id' | 'organization_id' | 'target'>;

export type Overdue = Due & Pick<OutboxMessageRow, 'part_id' | 'trigger_name'>;

export interface BacklogDeps {
  readonly db: OutboxDatabase;
  readonly clock: Clock;
}

const lookMs = 1_000;
const overdueLookMs = 60_000;
/** After a start, targets have this long to accept the messages that wait for them. */
const graceMs = 3_600_000;
const targetsPerStatement = 500;
const rowsPerStatement = 1_000;
const overdueAtOnce = 500;

export class Backlog {
  readonly #channel: ChannelName;
  readonly #deps: BacklogDeps;
  readonly #targets = new Set<string>();
  #hasLoaded = false;
  #lookedAtMs = Number.NEGATIVE_INFINITY;
  /** Targets that had no room at the last query. */
  #full: ReadonlySet<string> = new Set();
  #overdueAtMs = Number.NEGATIVE_INFINITY;
  /** Monotonic time since which the clock has not jumped; and how far the wall clock was ahead of the monotonic one. */
  #sinceMs = 0;
  #aheadMs = Number.NaN;

  constructor(channel: ChannelName, deps: BacklogDeps) {
    this.#channel = channel;
    this.#deps = deps;
  }

  /** Targets with held messages. Their other messages are younger, and must wait. */
  get targets(): ReadonlySet<string> {
    return this.#targets;
  }

  /** Reads once which targets the last process left. */
  async load(): Promise<void> {
    if (this.#hasLoaded) return;
    for (const { target } of await this.#held().select('target').distinct().execute()) this.#targets.add(target);
    this.#hasLoaded = true;
  }

  /** Holds due messages of stuck targets; called once a second. @param full targets without room @returns whether there may be more */
  async holdDue(full: readonly string[]): Promise<boolean> {
    const { clock } = this.#deps;
    if (clock.monotonic() - this.#lookedAtMs < lookMs) return false;
    for (const target of full) if (this.#full.has(target)) this.#targets.add(target);
    let isMore = false;
    for (const some of chunks([...this.#targets], targetsPerStatement)) if (await this.#hold(some)) isMore = true;
    if (isMore) return true;
    this.#full = new Set(full);
    this.#lookedAtMs = clock.monotonic();
    return false;
  }

  /**
   * Held messages that are due, oldest first for each target.
   *
   * @param hasRoom whether a target accepts messages now
   * @param enough number of messages that ends the search
   * @param limit for each target
   */
  async due(hasRoom: (target: string) => boolean, enough: number, limit: number): Promise<Due[]> {
    const now = this.#deps.clock.now();
    const found: Due[] = [];
    for (const target of this.#targets) {
      if (found.length >= enough) break;
      if (!hasRoom(target)) continue;
      const rows = await this.#held()
        .select(['id', 'organization_id', 'target', 'next_attempt_at'])
        .where('target', '=', target)
        .orderBy('next_attempt_at')
        .limit(limit)
        .execute();
      if (rows.length === 0) this.#targets.delete(target);
      found.push(...rows.filter(({ next_attempt_at }) => next_attempt_at <= now));
    }
    return found;
  }

  /**
   * Held messages that have been due for longer than `longestMs`, at most 500. Looked for once a minute, or again at once after a full
   * result. Returns none within an hour of a start or of a jump of the clock (such as after a suspension), because it is then unknown how
   * long a target could not be tried.
   *
   * @param sending returns the ids of the messages being sent. Called before the search: a message whose attempt ends during the search no
   * longer waits, although the search may still find it held
   */
  async overdue(longestMs: number, sending: () => ReadonlySet<string>): Promise<Overdue[]> {
    const { clock } = this.#deps;
    const atMs = clock.monotonic();
    const aheadMs = clock.now() - atMs;
    if (!(Math.abs(aheadMs - this.#aheadMs) < overdueLookMs)) this.#sinceMs = atMs;
    this.#aheadMs = aheadMs;
    if (atMs - this.#sinceMs < graceMs || atMs - this.#overdueAtMs < overdueLookMs) return [];
    const busy = sending();
    const found: Overdue[] = [];
    for (const some of chunks([...this.#targets], targetsPerStatement)) {
      const query = this.#held()
        .select(['id', 'organization_id', 'target', 'part_id', 'trigger_name'])
        .where('target', 'in', some)
        .where('next_attempt_at', '<', clock.now() - longestMs)
        .limit(overdueAtOnce - found.length);
      found.push(...(await query.execute()));
      if (found.length >= overdueAtOnce) break;
    }
    if (found.length < overdueAtOnce) this.#overdueAtMs = atMs;
    return found.filter(({ id }) => !busy.has(id));
  }

  #held() {
    return (
      this.#deps.db
        .selectFrom('outbox_messages')
        .where('channel', '=', this.#channel)
        .where('state', '=', 'pending')
        // Literal: otherwise SQLite cannot use the partial index.
        .where('held', '=', sql.lit(1))
    );
  }

  async #hold(targets: readonly string[]): Promise<boolean> {
    const { db, clock } = this.#deps;
    const due = db
      .selectFrom('outbox_messages')
      .select('id')
      .where('channel', '=', this.#channel)
      .where('state', '=', 'pending')
      .where('held', '=', 0)
      .where('next_attempt_at', '<=', clock.now())
      .where('target', 'in', targets)
      .orderBy('next_attempt_at')
      .limit(rowsPerStatement);
    const { numUpdatedRows } = await db
      .updateTable('outbox_messages')
      .set({ held: 1 })
      .where('id', 'in', due)
      .where('state', '=', 'pending')
      .executeTakeFirstOrThrow();
    return numUpdatedRows >= rowsPerStatement;
  }
}
