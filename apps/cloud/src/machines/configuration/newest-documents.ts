/** Queries for the newest saved documents of many parts; for features that change what parts run. */
import type { JsonObject } from '@platform/machine-config/schema';
import type { Database } from '../../metadata/tables.ts';
import { provenVersions, requireNewestVersions } from './configuration-history.ts';

/** Omits parts that were never configured. @param partIds few enough for one statement */
export async function newestDocuments(
  db: Database,
  partIds: readonly string[],
): Promise<ReadonlyMap<string, JsonObject>> {
  const rows = await db
    .selectFrom('part_configurations')
    .innerJoin(
      (inner) =>
        inner
          .selectFrom('part_configurations')
          .select(['part_id as newest_of', (each) => each.fn.max('version').as('newest')])
          .where('part_id', 'in', partIds)
          .groupBy('part_id')
          .as('newest_versions'),
      (join) =>
        join
          .onRef('newest_versions.newest_of', '=', 'part_configurations.part_id')
          .onRef('newest_versions.newest', '=', 'part_configurations.version'),
    )
    .selectAll('part_configurations')
    .select(['part_configurations.document as stored', provenVersions])
    .execute();
  await requireNewestVersions(db, partIds, rows);
  return new Map(rows.map((row) => [row.part_id, JSON.parse(row.document) as JsonObject]));
}
