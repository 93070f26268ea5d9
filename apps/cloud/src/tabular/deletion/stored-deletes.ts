/** Queries that retention makes about the deletions in the catalog. */
import type { Database } from '../../metadata/tables.ts';
import type { DeletePredicate } from '../catalog/row-filter.ts';

/** A deletion that also covers future rows: of a part or an organization that was deleted with its data. */
export interface OpenDelete {
  readonly id: number;
  readonly organizationId: string;
  readonly predicate: DeletePredicate;
  readonly createdMs: number;
}

export async function openDeletes(db: Database): Promise<readonly OpenDelete[]> {
  const rows = await db
    .selectFrom('tabular_deletes')
    .select(['id', 'organization_id', 'predicate', 'created_ms'])
    .where('up_to', '=', Number.MAX_SAFE_INTEGER)
    .execute();
  return rows.map((row) => ({
    id: row.id,
    organizationId: row.organization_id,
    predicate: JSON.parse(row.predicate) as DeletePredicate,
    createdMs: row.created_ms,
  }));
}

export async function predicatesOf(db: Database, organizationId: string): Promise<readonly DeletePredicate[]> {
  const rows = await db
    .selectFrom('tabular_deletes')
    .select('predicate')
    .where('organization_id', '=', organizationId)
    .execute();
  return rows.map(({ predicate }) => JSON.parse(predicate) as DeletePredicate);
}

/** Organizations that have deletions. */
export async function organizationsWithDeletes(db: Database): Promise<readonly string[]> {
  const rows = await db.selectFrom('tabular_deletes').select('organization_id').distinct().execute();
  return rows.map((row) => row.organization_id);
}
