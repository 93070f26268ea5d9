/** Caches the policies of all parts of an organization in memory: read once, then only their changes. */
import type { DataPolicies } from '@platform/machine-config/data-policies';
import type { Database } from '../metadata/tables.ts';

export interface OrganizationPolicies {
  /** A different number after every change. */
  readonly change: number;
  readonly parts: ReadonlyMap<string, DataPolicies>;
}

export interface Policies {
  /** The policies as of the last save committed before the call. */
  of(organizationId: string): Promise<OrganizationPolicies>;
}

export function createPolicies(db: Database): Policies {
  const known = new Map<string, { change: number; parts: Map<string, DataPolicies> }>();
  return {
    async of(organizationId) {
      const found = await db
        .selectFrom('data_policy_changes')
        .select('change')
        .where('organization_id', '=', organizationId)
        .executeTakeFirst();
      const before = known.get(organizationId) ?? { change: 0, parts: new Map() };
      if (found === undefined || found.change === before.change) return before;
      const rows = await db
        .selectFrom('data_policies')
        .select(['part_id', 'policies', 'change'])
        .where('organization_id', '=', organizationId)
        .where('change', '>', before.change)
        .execute();
      // Another call may have read more in the meantime.
      const now = known.get(organizationId) ?? before;
      known.set(organizationId, now);
      for (const row of rows) {
        if (row.change <= now.change && now.parts.has(row.part_id)) continue;
        now.parts.set(row.part_id, JSON.parse(row.policies) as DataPolicies);
      }
      now.change = Math.max(now.change, ...rows.map((row) => row.change));
      return { ...now };
    },
  };
}
