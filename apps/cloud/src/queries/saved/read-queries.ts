/** Saved queries as they are read: by id, by name, all of an organization. */
import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { type Query, QuerySchema } from '@platform/proto/platform/app/data/v1/data';
import type { Access } from '../../access/authorize.ts';
import { notVisible, type Principal } from '../../access/principal.ts';
import type { Database } from '../../metadata/tables.ts';
import type { SavedQueriesTable } from '../store.ts';
import { stagesOf } from './checked-pipeline.ts';

/** One of an organization of which the caller reads what is common. @throws not_found, alike for what is foreign and what is not there */
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

/** Undefined when there is none of this name. */
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

/** By name. @param limit zero or less: all */
export async function savedQueriesOf(db: Database, organizationId: string, limit: bigint): Promise<Query[]> {
  const rows = await db.selectFrom('saved_queries').selectAll().where('organization_id', '=', organizationId).execute();
  // Collations of databases differ.
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
