/** Reads saved queries: by id, by name, or all of an organization. */
import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { type Query, QuerySchema } from '@platform/proto/platform/app/data/v1/data';
import type { Access } from '../../access/authorize.ts';
import { notVisible, type Principal } from '../../access/principal.ts';
import type { Database } from '../../metadata/tables.ts';
import type { SavedQueriesTable } from '../store.ts';
import { stagesOf } from './checked-pipeline.ts';

/** A saved query of an organization whose shared data the caller may read. @throws not_found for both foreign and nonexistent ones */
export async function savedQuery(
  db: Database,
  access: Pick<Access, 'allows'>,
  principal: Principal,
  id: string,
): Promise<SavedQueriesTable> {
  const row = await db.selectFrom('saved_queries').selectAll().where('id', '=', id).executeTakeFirst();
  if (row === undefined || !access.allows(principal, 'organization.read', row.organization_id))
    throw notVisible('saved query', id);
  return row;
}

/** Undefined if no query has this name. */
export async function pipelineNamed(
  db: Database,
  organizationId: string,
  name: string,
): Promise<Uint8Array[] | undefined> {
  const row = await db
    .selectFrom('saved_queries')
    .select('pipeline')
    .where('organization_id', '=', organizationId)
    .where('name', '=', name)
    .executeTakeFirst();
  return row && stagesOf(row.pipeline);
}

/** Sorted by name. @param limit zero or less: all */
export async function savedQueriesOf(db: Database, organizationId: string, limit: bigint): Promise<Query[]> {
  const rows = await db.selectFrom('saved_queries').selectAll().where('organization_id', '=', organizationId).execute();
  // Sort here, because collations of databases differ.
  rows.sort((a, b) => (a.name < b.name ? -1 : 1));
  return rows.slice(0, limit > 0n ? Number(limit) : rows.length).map(queryMessage);
}

export function queryMessage(row: SavedQueriesTable): Query {
  return create(QuerySchema, {
    id: row.id,
    organizationId: row.organization_id,
    name: row.name,
    mqlBinary: stagesOf(row.pipeline),
    createdOn: timestampFromMs(row.created_ms),
    updatedAt: timestampFromMs(row.updated_ms),
  });
}
