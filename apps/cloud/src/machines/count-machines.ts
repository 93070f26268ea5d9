/** Number of machines in each location, for billing. */
import { organizationByLocation } from '../accounts/locations/stored-locations.ts';
import type { Database } from '../metadata/tables.ts';

export async function countMachines(
  db: Database,
): Promise<readonly { readonly organizationId: string; readonly locationId: string; readonly quantity: number }[]> {
  const rows = await db
    .selectFrom('machines')
    .innerJoin(organizationByLocation(db).as('whose'), 'whose.location_id', 'machines.location_id')
    .select(({ fn }) => [
      'whose.organization_id',
      'machines.location_id',
      fn.countAll<number | string>().as('machines'),
    ])
    .groupBy(['whose.organization_id', 'machines.location_id'])
    .execute();
  return rows.map(({ organization_id, location_id, machines }) => ({
    ...{ organizationId: organization_id, locationId: location_id, quantity: Number(machines) },
  }));
}
