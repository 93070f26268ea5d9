/**
 * Keeps what waits for targets without room out of the way of the others: their due messages are marked as held (`held` = 1), and the
 * query for due messages does not see them. Otherwise each look for messages would walk all that waits for a target that hangs.
 *
 * States of a message that is pending: not held → held (once a second, for targets that had no room at two looks in a row) → not held
 * (an attempt was recorded, or somebody resumed the target or asked for the delivery again), or failed (`overdue`: it was due for so long
 * that it is given up).
 *
 * Invariant: the target of every pending message that is held is in `#targets`. Only `holdDue` holds messages, and adds the target first; a
 * target is forgotten only when a query has found none of its messages held; whatever makes a message pending again also releases it; and
 * after a start `load` reads them. So each due message is found: not held by the query for all, held by the query for its target.
 * What is given up is neither pending nor held, and leaves its target in `#targets` until a query finds nothing there.
 */
import { type Clock, chunks } from '@platform/base';
import { type Kysely, sql } from 'kysely';
import type { ChannelName, OutboxMessageRow, OutboxTables } from '../store.ts';

export type Due = Pick<OutboxMessageRow, 'id' | 'organization_id' | 'target'>;

export type Overdue = Due & Pick<OutboxMessageRow, 'part_id' | 'trigger_name'>;

export interface BacklogDeps {
  readonly db: Kysely<OutboxTables>;
  readonly clock: Clock;
}

const lookMs = 1_000;
const overdueLookMs = 60_000;
/** After a start, targets have this long to take what waits for them. */
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
  /** Had no room at the last look. */
  #full: ReadonlySet<string> = new Set();
  #overdueAtMs = Number.NEGATIVE_INFINITY;
  /** Since when, monotonic, the clock has not jumped; by how much the wall clock was ahead of the monotonic one. */
  #sinceMs = 0;
  #aheadMs = Number.NaN;

  constructor(channel: ChannelName, deps: BacklogDeps) {
    this.#channel = channel;
    this.#deps = deps;
  }

  /** Those of which messages are held. Their other messages are younger, and must wait. */
  get targets(): ReadonlySet<string> {
    return this.#targets;
  }

  /** Reads, once, which targets were left by the last process. */
  async load(): Promise<void> {
    if (this.#hasLoaded) return;
    for (const { target } of await this.#held().select('target').distinct().execute()) this.#targets.add(target);
    this.#hasLoaded = true;
  }

  /** Holds due messages of stuck targets, once a second. @param full targets without room @returns whether there may be more */
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
   * Held messages that are due, for each target the oldest first.
   *
   * @param hasRoom whether a target gets anything now @param enough ends the search @param limit for each target
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
   * Held messages that have been due for longer, at most 500; looked for once a minute, or again at once after so many. There are none within
   * an hour of a start, or of a jump of the clock, as after a suspension: for how long a target could not be tried is not known then.
   *
   * @param sending ids of the messages being sent. It is called before the search: one whose attempt ends during it waits no longer, although
   *   the search may still find it held
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
