/** Deletes the oldest capture days of resources above their `tabular_limit_gb` (D24). */
import { type DataPolicies, retentionDaysOf } from '@platform/machine-config/data-policies';
import { audit } from '../access/audit.ts';
import type { Database } from '../metadata/tables.ts';
import { addDeleteRow } from '../tabular/catalog/catalog-rows.ts';
import type { DeletePredicate, PathRule } from '../tabular/catalog/row-filter.ts';
import { predicatesOf } from '../tabular/deletion/stored-deletes.ts';
import type { Tabular } from '../tabular/tabular.ts';
import { cutoffDay } from './cutoff-day.ts';
import { firstKeptDay } from './standing-rules.ts';
import { systemActor } from './system-actor.ts';

export interface LimitDeps {
  readonly db: Database;
  readonly tabular: Pick<Tabular, 'bytesByDay' | 'lag'>;
}

interface Limited {
  readonly paths: PathRule;
  readonly limitGb: number;
  /** Earlier days are already removed. */
  readonly keptFrom: string;
}

/** Must be called only after deleted rows were removed, because until then they count. */
export async function limitTabular(
  { db, tabular }: LimitDeps,
  organizationId: string,
  parts: ReadonlyMap<string, DataPolicies>,
  nowMs: number,
  signal: AbortSignal,
): Promise<void> {
  const before = new Map<string, string>();
  for (const { paths, beforeDay = '', sparesHot } of await predicatesOf(db, organizationId)) {
    const key = JSON.stringify(paths);
    if (sparesHot === true && beforeDay > (before.get(key) ?? '')) before.set(key, beforeDay);
  }
  const limited = [...parts].flatMap(([partId, policies]) => limitedOf(partId, policies, before, nowMs));
  if (limited.length === 0) return;
  const sizes = await tabular.bytesByDay(
    organizationId,
    limited.map(({ paths }) => paths),
    signal,
  );
  const today = new Date(nowMs).toISOString().slice(0, 10);
  for (const [i, { paths, limitGb, keptFrom }] of limited.entries()) {
    const kept = new Map([...(sizes[i] ?? [])].filter(([day]) => day >= keptFrom));
    const beforeDay = cutoffDay(kept, limitGb, today);
    if (beforeDay === undefined) continue;
    const predicate: DeletePredicate = { paths, beforeDay, sparesHot: true };
    await db.transaction().execute(async (trx) => {
      const upTo = tabular.lag().committedPosition;
      const row = { organization_id: organizationId, predicate: JSON.stringify(predicate), up_to: upTo };
      await addDeleteRow(trx, { ...row, created_ms: nowMs });
      const [targetId = ''] = paths.part_id ?? [];
      const detail = { paths, before_day: beforeDay, tabular_limit_gb: limitGb };
      await audit(trx, systemActor, nowMs, 'platform.retention.size-limit', ['part', targetId, organizationId], detail);
    });
  }
}

function limitedOf(
  partId: string,
  policies: DataPolicies,
  before: ReadonlyMap<string, string>,
  nowMs: number,
): Limited[] {
  return policies.resources.flatMap((resource) => {
    if (resource.tabularLimitGb === undefined) return [];
    const paths = { part_id: [partId], component_type: [resource.api], component_name: [resource.name] };
    const days = retentionDaysOf(policies, resource);
    const hidden = days === undefined ? '' : firstKeptDay(days, nowMs);
    const deleted = before.get(JSON.stringify(paths)) ?? '';
    return [{ paths, limitGb: resource.tabularLimitGb, keptFrom: [hidden, deleted].toSorted().at(-1) ?? '' }];
  });
}
