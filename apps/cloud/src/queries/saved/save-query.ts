/** Creates and changes saved queries. Names are unique within an organization. */
import { alreadyExists, type Clock, newId, resourceExhausted } from '@platform/base';
import { audit, type Caller } from '../../access/audit.ts';
import { notVisible } from '../../access/principal.ts';
import type { Database } from '../../metadata/tables.ts';
import { checkedName } from '../../text-rules/checked-name.ts';
import type { SavedQueriesTable } from '../store.ts';
import { checkedPipeline } from './checked-pipeline.ts';

interface SaveDeps {
  readonly db: Database;
  readonly clock: Clock;
}

const maxQueries = 1_000;
/** All queries of an organization are listed in one answer. */
const maxTotalBytes: number = 3 * 1024 * 1024;

export interface QueryContent {
  readonly name: string;
  readonly mqlBinary: readonly Uint8Array[];
}

/** Returns the id. @throws invalid_argument, already_exists, resource_exhausted */
export async function createSavedQuery(
  { db, clock }: SaveDeps,
  by: Caller,
  organizationId: string,
  content: QueryContent,
): Promise<string> {
  const name = checkedName(content.name);
  const pipeline = checkedPipeline(content.mqlBinary);
  const id = newId();
  await db.transaction().execute(async (trx) => {
    await requireCapacity(trx, organizationId, { id, name, pipeline });
    const now = clock.now();
    const row = { id, organization_id: organizationId, name, pipeline, created_ms: now, updated_ms: now };
    await trx.insertInto('saved_queries').values(row).execute();
    await audit(trx, by, now, 'DataService.CreateSavedQuery', ['saved_query', id, organizationId], { name });
  });
  return id;
}

/** @throws invalid_argument, already_exists, resource_exhausted; not_found if it was deleted in the meantime */
export async function updateSavedQuery(
  { db, clock }: SaveDeps,
  by: Caller,
  { id, organization_id: organizationId }: Pick<SavedQueriesTable, 'id' | 'organization_id'>,
  content: QueryContent,
): Promise<void> {
  const name = checkedName(content.name);
  const pipeline = checkedPipeline(content.mqlBinary);
  await db.transaction().execute(async (trx) => {
    await requireCapacity(trx, organizationId, { id, name, pipeline });
    const now = clock.now();
    const { numUpdatedRows } = await trx
      .updateTable('saved_queries')
      .set({ name, pipeline, updated_ms: now })
      .where('id', '=', id)
      .executeTakeFirst();
    if (numUpdatedRows === 0n) throw notVisible('saved query', id);
    await audit(trx, by, now, 'DataService.UpdateSavedQuery', ['saved_query', id, organizationId], { name });
  });
}

export async function deleteSavedQuery(
  { db, clock }: SaveDeps,
  by: Caller,
  { id, organization_id: organizationId, name }: Pick<SavedQueriesTable, 'id' | 'organization_id' | 'name'>,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await trx.deleteFrom('saved_queries').where('id', '=', id).execute();
    await audit(trx, by, clock.now(), 'DataService.DeleteSavedQuery', ['saved_query', id, organizationId], { name });
  });
}

async function requireCapacity(
  trx: Database,
  organizationId: string,
  { id, name, pipeline }: Pick<SavedQueriesTable, 'id' | 'name' | 'pipeline'>,
): Promise<void> {
  const all = await trx
    .selectFrom('saved_queries')
    .select(['id', 'name', 'pipeline'])
    .where('organization_id', '=', organizationId)
    .execute();
  const others = all.filter((one) => one.id !== id);
  if (others.some((one) => one.name === name))
    throw alreadyExists(
      `name: expected one that no other saved query of the organization has, found ${JSON.stringify(name)}`,
    );
  const bytes = others.reduce((sum, one) => sum + one.pipeline.length, pipeline.length);
  if (others.length >= maxQueries || bytes > maxTotalBytes)
    throw resourceExhausted(
      `an organization can have at most ${maxQueries} saved queries of ${maxTotalBytes} bytes in total, and this would be number ${others.length + 1} with a total of ${bytes} bytes; delete some that are no longer needed`,
    );
}
