/** Reads and writes of the triggers' tables. */
import { chunks, finishAll } from '@platform/base';
import type { Kysely } from 'kysely';
import { noState, type TriggerState } from './evaluate.ts';
import type { TriggersDatabase, TriggersTables, TriggersTransaction } from './store.ts';

/** Names of triggers, by part. */
export type TriggerNames = ReadonlyMap<string, ReadonlySet<string>>;

/** Names per statement: stores limit the number of bound values. */
const namesPerStatement = 500;

/** Stored data of triggers, and its changes since it was read. One follower reads and writes it, so that it cannot change in between. */
export class StoredTriggers {
  readonly #starts = new Map<string, number>();
  readonly #states = new Map<string, TriggerState>();
  readonly #changed = new Map<string, { partId: string; name: string; before: TriggerState }>();

  static async load(db: TriggersDatabase, triggers: TriggerNames): Promise<StoredTriggers> {
    const loaded = new StoredTriggers();
    for (const [partId, all] of triggers)
      for (const names of chunks([...all], namesPerStatement)) await loaded.#load(db, partId, names);
    return loaded;
  }

  async #load(db: TriggersDatabase, partId: string, names: readonly string[]): Promise<void> {
    const [starts, throttles, states] = await Promise.all([
      rowsOf(db, 'trigger_starts', partId, names),
      rowsOf(db, 'trigger_throttles', partId, names),
      rowsOf(db, 'trigger_states', partId, names),
    ]);
    for (const { trigger_name: name, position } of starts) this.#starts.set(keyOf(partId, name), position);
    for (const { trigger_name: name, state } of states) {
      const { rule, told } = JSON.parse(state) as Pick<TriggerState, 'rule' | 'told'>;
      this.#states.set(keyOf(partId, name), { rule, told, notified: {} });
    }
    const byName = Map.groupBy(throttles, (row) => row.trigger_name);
    for (const [name, rows] of byName) {
      const notified = Object.fromEntries(rows.map((row) => [row.notification, row.last_event_at]));
      this.#states.set(keyOf(partId, name), { ...this.of(partId, name), notified });
    }
  }

  /** The trigger applies to rows after this position; a trigger without a record applies to all rows. */
  startOf(partId: string, name: string): number {
    return this.#starts.get(keyOf(partId, name)) ?? 0;
  }

  of(partId: string, name: string): TriggerState {
    return this.#states.get(keyOf(partId, name)) ?? noState;
  }

  set(partId: string, name: string, state: TriggerState): void {
    const before = this.of(partId, name);
    if (state === before) return;
    const key = keyOf(partId, name);
    this.#states.set(key, state);
    if (!this.#changed.has(key)) this.#changed.set(key, { partId, name, before });
  }

  get hasChanged(): boolean {
    return this.#changed.size > 0;
  }

  async save(trx: TriggersTransaction): Promise<void> {
    const throttles: TriggersTables['trigger_throttles'][] = [];
    const states: TriggersTables['trigger_states'][] = [];
    for (const { partId, name, before } of this.#changed.values()) {
      const { rule, told, notified } = this.of(partId, name);
      const of = { part_id: partId, trigger_name: name };
      for (const [notification, lastEventAtMs] of Object.entries(notified))
        if (before.notified[notification] !== lastEventAtMs)
          throttles.push({ ...of, notification, last_event_at: lastEventAtMs });
      if (rule !== before.rule || told !== before.told) states.push({ ...of, state: JSON.stringify({ rule, told }) });
    }
    await finishAll([saveThrottles(trx, throttles), saveStates(trx, states)]);
  }
}

function keyOf(partId: string, name: string): string {
  return `${partId} ${name}`;
}

function rowsOf<Table extends 'trigger_starts' | 'trigger_throttles' | 'trigger_states'>(
  db: TriggersDatabase,
  table: Table,
  partId: string,
  names: readonly string[],
): Promise<TriggersTables[Table][]> {
  const query = (db as Kysely<Pick<TriggersTables, 'trigger_starts'>>)
    .selectFrom(table as 'trigger_starts')
    .selectAll();
  const rows = query.where('part_id', '=', partId).where('trigger_name', 'in', names).execute();
  return rows as Promise<unknown> as Promise<TriggersTables[Table][]>;
}

async function saveThrottles(trx: TriggersTransaction, rows: readonly TriggersTables['trigger_throttles'][]) {
  for (const some of chunks(rows, namesPerStatement))
    await trx
      .insertInto('trigger_throttles')
      .values(some)
      .onConflict((conflict) =>
        conflict
          .columns(['part_id', 'trigger_name', 'notification'])
          .doUpdateSet((row) => ({ last_event_at: row.ref('excluded.last_event_at') })),
      )
      .execute();
}

async function saveStates(trx: TriggersTransaction, rows: readonly TriggersTables['trigger_states'][]) {
  for (const some of chunks(rows, namesPerStatement))
    await trx
      .insertInto('trigger_states')
      .values(some)
      .onConflict((conflict) =>
        conflict.columns(['part_id', 'trigger_name']).doUpdateSet((row) => ({ state: row.ref('excluded.state') })),
      )
      .execute();
}

/** An upload for which a trigger cannot be evaluated. */
export interface Undecided {
  readonly position: number;
  readonly triggerName: string;
  readonly partId: string;
  readonly reason: string;
  readonly atMs: number;
}

export async function saveUndecided(trx: TriggersTransaction, undecided: readonly Undecided[]): Promise<void> {
  if (undecided.length === 0) return;
  await trx
    .insertInto('trigger_damaged_rows')
    .values(
      undecided.map(({ position, triggerName, partId, reason, atMs }) => ({
        position,
        trigger_name: triggerName,
        part_id: partId,
        reason,
        at: atMs,
      })),
    )
    .onConflict((conflict) => conflict.columns(['position', 'trigger_name']).doNothing())
    .execute();
}
