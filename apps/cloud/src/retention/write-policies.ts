/** Stores the data policies of effective configurations, in the transaction that changes them. */
import { chunks } from '@platform/base';
import { type DataPolicies, readDataPolicies } from '@platform/machine-config/data-policies';
import { type RetentionDays, writeRetentionDays } from '../binary/retention-days/write-retention-days.ts';
import { placesOf } from '../machines/part-places.ts';
import { requireRight } from '../metadata/row-checks/require-right.ts';
import { rowsPerStatement } from '../metadata/rows-per-statement.ts';
import type { Database } from '../metadata/tables.ts';
import { dataPolicies } from './store.ts';

export interface ChangedPart {
  readonly partId: string;
  /** Decoded, with fragments resolved. */
  readonly document: unknown;
}

/** Writes only changed policies. */
export async function writePolicies(trx: Database, parts: readonly ChangedPart[]): Promise<void> {
  for (const some of chunks(parts, rowsPerStatement)) await writeSome(trx, some);
}

async function writeSome(trx: Database, parts: readonly ChangedPart[]): Promise<void> {
  const read = new Map(parts.map(({ partId, document }) => [partId, readDataPolicies(document)]));
  const texts = new Map([...read].map(([partId, policies]) => [partId, JSON.stringify(policies)]));
  const before = await trx
    .selectFrom('data_policies')
    .selectAll()
    .where('part_id', 'in', [...texts.keys()])
    .execute();
  requireRight(dataPolicies, before);
  for (const { part_id, policies } of before) if (texts.get(part_id) === policies) texts.delete(part_id);
  if (texts.size === 0) return;
  const places = await placesOf(trx, [...texts.keys()]);
  const changed = places.map((place) => place.part_id);
  const days = places.flatMap(({ part_id, organization_id }) => daysOf(part_id, organization_id, read.get(part_id)));
  await writeRetentionDays(trx, changed, days);
  for (const [organizationId, ofOne] of Map.groupBy(places, (place) => place.organization_id)) {
    const { change } = await trx
      .insertInto('data_policy_changes')
      .values({ organization_id: organizationId, change: 1 })
      .onConflict((conflict) =>
        conflict
          .column('organization_id')
          .doUpdateSet(({ ref, eb }) => ({ change: eb(ref('data_policy_changes.change'), '+', 1) })),
      )
      .returning('change')
      .executeTakeFirstOrThrow();
    const rows = ofOne.map(({ part_id }) => ({
      part_id,
      organization_id: organizationId,
      policies: texts.get(part_id) ?? '',
      change,
    }));
    await trx
      .insertInto('data_policies')
      .values(rows)
      .onConflict((conflict) =>
        conflict.column('part_id').doUpdateSet(({ ref }) => ({
          policies: ref('excluded.policies'),
          change: ref('excluded.change'),
        })),
      )
      .execute();
  }
}

function daysOf(partId: string, organizationId: string, policies: DataPolicies | undefined): RetentionDays[] {
  const own = { api: '', name: '', days: policies?.days };
  return [own, ...(policies?.resources ?? [])].flatMap(({ api, name, days }) =>
    days === undefined
      ? []
      : [{ part_id: partId, component_type: api, component_name: name, days, organization_id: organizationId }],
  );
}
