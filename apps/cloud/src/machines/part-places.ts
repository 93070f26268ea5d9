/** Places of parts and machines, by query: within the transaction that creates them they are not yet in memory. */
import type { AliasableExpression } from 'kysely';
import { organizationByLocation } from '../accounts/locations/stored-locations.ts';
import type { Database } from '../metadata/tables.ts';

export interface PartPlace {
  part_id: string;
  machine_id: string;
  machine_name: string;
  organization_id: string;
}

/** A table to join, with one row for each part: `.innerJoin(partPlaces(db).as('place'), 'place.part_id', 'part_fragments.part_id')`. */
export function partPlaces(db: Database): AliasableExpression<PartPlace> {
  return db
    .selectFrom('parts')
    .innerJoin('machines', 'machines.id', 'parts.machine_id')
    .innerJoin(organizationByLocation(db).as('whose'), 'whose.location_id', 'machines.location_id')
    .select([
      'parts.id as part_id',
      'machines.id as machine_id',
      'machines.name as machine_name',
      'whose.organization_id',
    ]);
}

/** The places of those parts that exist. @param partIds few enough for one statement */
export function placesOf(db: Database, partIds: readonly string[]): Promise<PartPlace[]> {
  return db.selectFrom(partPlaces(db).as('place')).selectAll().where('place.part_id', 'in', partIds).execute();
}

export async function partIdsOf(db: Database, machineId: string): Promise<readonly string[]> {
  const rows = await db.selectFrom('parts').select('id').where('machine_id', '=', machineId).execute();
  return rows.map(({ id }) => id);
}

/** Names of the machines directly in a location. */
export async function machineNamesIn(db: Database, locationId: string): Promise<readonly string[]> {
  const rows = await db.selectFrom('machines').select('name').where('location_id', '=', locationId).execute();
  return rows.map(({ name }) => name);
}

/** Names by id of those machines and parts that exist; for a part, Machine/part. @param ids few enough for one statement */
export async function placeNames(db: Database, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map();
  const machines = await db.selectFrom('machines').select(['id', 'name']).where('id', 'in', ids).execute();
  const parts = await db
    .selectFrom('parts')
    .innerJoin('machines', 'machines.id', 'parts.machine_id')
    .select(['parts.id', 'parts.name', 'machines.name as machine_name'])
    .where('parts.id', 'in', ids)
    .execute();
  return new Map([
    ...machines.map(({ id, name }): [string, string] => [id, name]),
    ...parts.map(({ id, name, machine_name }): [string, string] => [id, `${machine_name}/${name}`]),
  ]);
}
