/** Bytes of saved configurations that each organization keeps, for billing: all versions whose documents are stored. */
import type { Database } from '../../metadata/tables.ts';
import { partPlaces } from '../part-places.ts';

export async function keptConfigurations(
  db: Database,
): Promise<readonly { readonly organizationId: string; readonly quantity: number }[]> {
  const rows = await db
    // Summed from the index `part_configurations_kept`: no document is read.
    .with('kept', (given) =>
      given
        .selectFrom('part_configurations')
        .select(({ fn }) => ['part_id', fn.sum<number | string>('bytes').as('bytes')])
        .where('document', '!=', '')
        .groupBy('part_id'),
    )
    .selectFrom('kept')
    .innerJoin(partPlaces(db).as('place'), 'place.part_id', 'kept.part_id')
    .select(({ fn }) => ['place.organization_id', fn.sum<number | string>('kept.bytes').as('bytes')])
    .groupBy('place.organization_id')
    .execute();
  return rows.map(({ organization_id, bytes }) => ({ organizationId: organization_id, quantity: Number(bytes) }));
}
