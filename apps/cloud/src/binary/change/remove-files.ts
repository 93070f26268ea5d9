/** Deletes many files in the background in batches: files past their retention, above a size limit, or of a deleted owner. */
import { type Expression, type SqlBool, sql } from 'kysely';
import type { Database } from '../../metadata/tables.ts';
import { isExpired } from '../retention-days/is-kept.ts';
import { deleteFiles } from './delete-files.ts';

/** Files per transaction, kept small because all writers wait for it. */
const filesAtOnce = 200;

/** Files of an organization that match all members. */
export interface WhichFiles {
  readonly organizationId: string;
  readonly partId?: string | undefined;
  readonly component?: { readonly type: string; readonly name: string };
  /** Only files captured before this day, in days since 1970. */
  readonly beforeDay?: number;
  /** Only files whose retention has ended by this time. */
  readonly expiredMs?: number;
}

/** @returns how many were deleted */
export async function removeFiles(db: Database, which: WhichFiles, signal: AbortSignal): Promise<number> {
  for (let removed = 0; ; ) {
    signal.throwIfAborted();
    const files = await db
      .selectFrom('binary_data')
      .select(['id', 'blob_path'])
      .where(isAmong(which))
      .limit(filesAtOnce)
      .execute();
    if (files.length > 0) removed += await db.transaction().execute((trx) => deleteFiles(trx, files));
    if (files.length < filesAtOnce) return removed;
  }
}

/** Deletes at most `limit` files of the part, in the transaction that deletes the part. */
export async function deleteFilesOfPart(trx: Database, partId: string, limit: number): Promise<void> {
  const files = await trx
    .selectFrom('binary_data')
    .select(['id', 'blob_path'])
    .where('part_id', '=', partId)
    .limit(limit)
    .execute();
  await deleteFiles(trx, files);
}

/** Indexed by capture day, in days since 1970. */
export async function bytesByCaptureDay(db: Database, which: WhichFiles): Promise<ReadonlyMap<number, number>> {
  const rows = await db
    .selectFrom('binary_data')
    .select(['capture_day', sql<number>`cast(sum(size_bytes) as bigint)`.as('bytes')])
    .where(isAmong(which))
    .groupBy('capture_day')
    .execute();
  return new Map(rows.map((row) => [row.capture_day, Number(row.bytes)]));
}

function isAmong({ organizationId, partId, component, beforeDay, expiredMs }: WhichFiles): Expression<SqlBool> {
  const conditions = [
    sql<SqlBool>`organization_id = ${organizationId}`,
    ...(partId === undefined ? [] : [sql<SqlBool>`part_id = ${partId}`]),
    ...(component === undefined
      ? []
      : [sql<SqlBool>`component_type = ${component.type} and component_name = ${component.name}`]),
    ...(beforeDay === undefined ? [] : [sql<SqlBool>`capture_day < ${beforeDay}`]),
    ...(expiredMs === undefined ? [] : [isExpired(expiredMs)]),
  ];
  return sql<SqlBool>`(${sql.join(conditions, sql` and `)})`;
}
