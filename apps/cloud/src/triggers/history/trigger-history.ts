/**
 * The history of triggers, for people: one row for each trigger, subject, outcome and minute, with a count. Written in the transaction that
 * moves the cursor or records the transition, so that nothing is counted twice, even after a kill. Kept for 30 days; the time at which each
 * trigger last fired is kept for a year.
 */
import { createHash } from 'node:crypto';
import { chunks, dayMs, finishAll } from '@platform/base';
import { sql } from 'kysely';
import { rowsPerStatement } from '../../metadata/rows-per-statement.ts';
import type { TriggerDecision } from '../evaluate.ts';
import type { TriggersDatabase, TriggersTables, TriggersTransaction } from '../store.ts';

export type HistoryOutcome = 'fired' | 'recovered' | 'failed';

/** Collects what is decided together. */
export class TriggerHistory {
  readonly #rows = new Map<string, TriggersTables['trigger_history']>();
  readonly #last = new Map<string, TriggersTables['trigger_last_fired']>();

  get isEmpty(): boolean {
    return this.#rows.size === 0;
  }

  decided(place: TriggerPlace, decision: TriggerDecision): void {
    const { outcome, atMs, subject, reason, cause, notifications } = decision;
    const row = this.#row(place, outcome, subject, atMs, reason);
    for (const { suppressed } of notifications) {
      if (suppressed === undefined) row.sent += 1;
      else if (suppressed === 'interval') row.suppressed_by_interval += 1;
      else row.suppressed_as_not_told += 1;
    }
    if (outcome !== 'fired') return;
    this.#last.set(`${place.partId} ${place.triggerName}`, {
      ...{ part_id: place.partId, trigger_name: place.triggerName, organization_id: place.organizationId },
      ...{ at: atMs, cause: cause.join(' ') },
    });
  }

  /** Records that a trigger could not be evaluated. */
  failed(place: TriggerPlace, atMs: number, reason: string): void {
    this.#row(place, 'failed', '', atMs, reason);
  }

  async save(trx: TriggersTransaction): Promise<void> {
    await finishAll([
      ...[...chunks([...this.#rows.values()], rowsPerStatement)].map((some) => addRows(trx, some)),
      ...[...chunks([...this.#last.values()], rowsPerStatement)].map((some) => saveLastFired(trx, some)),
    ]);
  }

  #row(
    { organizationId, partId, triggerName }: TriggerPlace,
    outcome: HistoryOutcome,
    subject: string,
    atMs: number,
    reason: string,
  ): TriggersTables['trigger_history'] {
    const minute = Math.floor(atMs / minuteMs) * minuteMs;
    const key = JSON.stringify([partId, triggerName, outcome, subject, minute]);
    const found = this.#rows.get(key);
    if (found !== undefined) {
      found.count += 1;
      found.last_at = atMs;
      found.reason = reason.slice(0, maxReason);
      return found;
    }
    const row = {
      ...{ id: createHash('sha256').update(key).digest('hex').slice(0, 32), organization_id: organizationId },
      ...{ part_id: partId, trigger_name: triggerName, subject, outcome, minute, last_at: atMs },
      ...{ count: 1, sent: 0, suppressed_by_interval: 0, suppressed_as_not_told: 0 },
      reason: reason.slice(0, maxReason),
    };
    this.#rows.set(key, row);
    return row;
  }
}

export interface TriggerPlace {
  readonly organizationId: string;
  readonly partId: string;
  readonly triggerName: string;
}

const minuteMs = 60_000;
const keptMs = 30 * dayMs;
const lastFiredKeptMs = 365 * dayMs;
const rowsPerPrune = 1_000;
/** In characters. */
const maxReason = 500;

function addRows(trx: TriggersTransaction, rows: readonly TriggersTables['trigger_history'][]) {
  return trx
    .insertInto('trigger_history')
    .values(rows)
    .onConflict((conflict) =>
      conflict.column('id').doUpdateSet(({ ref }) => ({
        last_at: ref('excluded.last_at'),
        reason: ref('excluded.reason'),
        count: sql<number>`trigger_history.count + ${ref('excluded.count')}`,
        sent: sql<number>`trigger_history.sent + ${ref('excluded.sent')}`,
        suppressed_by_interval: sql<number>`trigger_history.suppressed_by_interval + ${ref('excluded.suppressed_by_interval')}`,
        suppressed_as_not_told: sql<number>`trigger_history.suppressed_as_not_told + ${ref('excluded.suppressed_as_not_told')}`,
      })),
    )
    .execute();
}

function saveLastFired(trx: TriggersTransaction, rows: readonly TriggersTables['trigger_last_fired'][]) {
  return trx
    .insertInto('trigger_last_fired')
    .values(rows)
    .onConflict((conflict) =>
      conflict.columns(['part_id', 'trigger_name']).doUpdateSet(({ ref }) => ({
        organization_id: ref('excluded.organization_id'),
        at: ref('excluded.at'),
        cause: ref('excluded.cause'),
      })),
    )
    .execute();
}

/** True: the occurrence is the latest in the trigger's history. */
export async function isLastFired(
  db: TriggersDatabase,
  { partId, triggerName }: TriggerPlace,
  cause: TriggerDecision['cause'],
): Promise<boolean> {
  const row = await db
    .selectFrom('trigger_last_fired')
    .select('cause')
    .where('part_id', '=', partId)
    .where('trigger_name', '=', triggerName)
    .executeTakeFirst();
  return row?.cause === cause.join(' ');
}

/** Deletes expired history; true: there may be more. */
export async function pruneHistory(db: TriggersDatabase, nowMs: number): Promise<boolean> {
  await db
    .deleteFrom('trigger_last_fired')
    .where('at', '<', nowMs - lastFiredKeptMs)
    .execute();
  const old = await db
    .selectFrom('trigger_history')
    .select('id')
    .where('minute', '<', nowMs - keptMs)
    .limit(rowsPerPrune)
    .execute();
  const ids = old.map(({ id }) => id);
  if (ids.length > 0) await db.deleteFrom('trigger_history').where('id', 'in', ids).execute();
  return ids.length === rowsPerPrune;
}

/** Must be called in the transaction that deletes the organization. */
export async function organizationDeleting(trx: TriggersDatabase, organizationId: string): Promise<void> {
  for (const table of ['trigger_history', 'trigger_last_fired'] as const)
    await trx.deleteFrom(table).where('organization_id', '=', organizationId).execute();
}
