/** Caches the policies of all parts of an organization in memory: read once, then only their changes. */
import type { DataPolicies } from '@platform/machine-config/data-policies';
import { provenRows, requireCompleteSet, requireNoRows } from '../metadata/row-checks/require-complete.ts';
import { requireRight } from '../metadata/row-checks/require-right.ts';
import type { Database } from '../metadata/tables.ts';
import { dataPolicies, dataPolicyChanges } from './store.ts';

export interface OrganizationPolicies {
  /** A different number after every change. */
  readonly change: number;
  readonly parts: ReadonlyMap<string, DataPolicies>;
}

export interface Policies {
  /** The policies as of the last save committed before the call. */
  of(organizationId: string): Promise<OrganizationPolicies>;
}

/** So that missing ones are noticed without reading those that are known. */
const provenPolicies = provenRows(dataPolicies, 'data_policies.organization_id').as('proven');

export function createPolicies(db: Database): Policies {
  const known = new Map<string, { change: number; parts: Map<string, DataPolicies> }>();
  return {
    async of(organizationId) {
      const found = await db
        .selectFrom('data_policy_changes')
        .selectAll()
        .where('organization_id', '=', organizationId)
        .executeTakeFirst();
      if (found === undefined) await requireNoRows(db, dataPolicyChanges, [organizationId]);
      else requireRight(dataPolicyChanges, [found]);
      const before = known.get(organizationId) ?? { change: 0, parts: new Map() };
      if (found === undefined || found.change === before.change) return before;
      const rows = await db
        .selectFrom('data_policies')
        .selectAll()
        .select(provenPolicies)
        .where('organization_id', '=', organizationId)
        .where('change', '>', before.change)
        .execute();
      requireRight(dataPolicies, rows);
      // Another call may have read more in the meantime.
      const now = known.get(organizationId) ?? before;
      known.set(organizationId, now);
      for (const row of rows) {
        if (row.change <= now.change && now.parts.has(row.part_id)) continue;
        now.parts.set(row.part_id, JSON.parse(row.policies) as DataPolicies);
      }
      if (now.parts.size !== Number(rows[0]?.proven)) await requireCompleteSet(db, dataPolicies, organizationId);
      now.change = Math.max(now.change, ...rows.map((row) => row.change));
      return { ...now };
    },
  };
}
