import type { OutboxDatabase } from '../store.ts';

export interface PausedTarget {
  readonly target: string;
  readonly pausedAtMs: number;
  /** Human-readable. */
  readonly reason: string;
  /** Number of messages that wait for the target. */
  readonly waiting: number;
}

/** Newest first. */
export async function pausedTargets(db: OutboxDatabase, organizationId: string): Promise<PausedTarget[]> {
  const rows = await db
    .selectFrom('outbox_paused_targets')
    .select(['target', 'paused_at', 'reason'])
    .where('organization_id', '=', organizationId)
    .orderBy('paused_at', 'desc')
    .orderBy('target')
    .execute();
  const counts = await db
    .selectFrom('outbox_messages')
    .select(({ fn }) => ['target', fn.countAll<number | string>().as('waiting')])
    .where('organization_id', '=', organizationId)
    .where('state', '=', 'paused')
    .groupBy('target')
    .execute();
  const waiting = new Map(counts.map((row) => [row.target, Number(row.waiting)]));
  return rows.map(({ target, paused_at, reason }) => ({
    ...{ target, pausedAtMs: paused_at, reason },
    waiting: waiting.get(target) ?? 0,
  }));
}

/** Why each of these targets of the organization is paused; those that are not are absent. */
export async function pauseReasons(
  db: OutboxDatabase,
  organizationId: string,
  targets: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (targets.length === 0) return new Map();
  const rows = await db
    .selectFrom('outbox_paused_targets')
    .select(['target', 'reason'])
    .where('organization_id', '=', organizationId)
    .where('target', 'in', [...new Set(targets)])
    .execute();
  return new Map(rows.map(({ target, reason }) => [target, reason]));
}

/** Whether triggers of the organization have sent something to exactly this target. */
export async function isKnownTarget(db: OutboxDatabase, organizationId: string, target: string): Promise<boolean> {
  const found = await db
    .selectFrom('outbox_messages')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where('target', '=', target)
    .where('trigger_name', '!=', '')
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
}
