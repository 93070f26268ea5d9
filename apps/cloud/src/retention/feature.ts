/**
 * Retention: how long the cloud keeps the data of parts (D24), which of it the hot store holds, and what happens to it when a part is
 * deleted. The rules are in the configurations of parts and apply as soon as a save is committed.
 */
import type { DataPolicies } from '@platform/machine-config/data-policies';
import type { OnConfigurationChange } from '../machines/configuration/configuration-change.ts';
import type { Database } from '../metadata/tables.ts';
import type { StandingRules, StandingRulesOf } from '../tabular/deletion/standing-rules.ts';
import { deleteOrganizationData } from './delete-organization-data.ts';
import { deletePartData } from './delete-part-data.ts';
import { createPolicies } from './policies.ts';
import { standingRules } from './standing-rules.ts';
import { writePolicies } from './write-policies.ts';

export interface RetentionDeps {
  readonly db: Database;
  readonly now: () => number;
}

export interface Retention {
  /**
   * Stores the data policies of changed configurations in the same transaction. With `delete_data_on_part_deletion`, the data of a deleted
   * part is deleted with it, and audited.
   */
  readonly configurationsChanged: OnConfigurationChange;
  /** Must be called in the transaction that deletes an organization: its data is deleted with it. */
  organizationDeleting(trx: Database, organizationId: string): Promise<void>;
  readonly standingRulesOf: StandingRulesOf;
  /** By part, including deleted parts. */
  policiesOf(organizationId: string): Promise<ReadonlyMap<string, DataPolicies>>;
  /** Ids of organizations whose parts were ever configured. */
  organizations(): Promise<readonly string[]>;
}

const dayMs = 86_400_000;

export function createRetention({ db, now }: RetentionDeps): Retention {
  const policies = createPolicies(db);
  /** Rules computed for one state of an organization's policies and one day. */
  const known = new Map<string, { readonly change: number; readonly day: number; readonly rules: StandingRules }>();
  return {
    async configurationsChanged(trx, changes) {
      const changed = changes.filter(({ deletedBy }) => deletedBy === undefined);
      await writePolicies(
        trx,
        changed.map(({ partId, after }) => ({ partId, document: after })),
      );
      for (const { partId, deletedBy } of changes)
        if (deletedBy !== undefined) await deletePartData(trx, partId, deletedBy, now());
    },
    organizationDeleting: (trx, organizationId) => deleteOrganizationData(trx, organizationId, now()),

    async standingRulesOf(organizationId, nowMs) {
      const { change, parts } = await policies.of(organizationId);
      const day = Math.floor(nowMs / dayMs);
      const before = known.get(organizationId);
      if (before?.change === change && before.day === day) return before.rules;
      const rules = standingRules(parts, nowMs);
      known.set(organizationId, { change, day, rules });
      return rules;
    },
    async policiesOf(organizationId) {
      return (await policies.of(organizationId)).parts;
    },
    async organizations() {
      const rows = await db.selectFrom('data_policy_changes').select('organization_id').execute();
      return rows.map((row) => row.organization_id);
    },
  };
}
