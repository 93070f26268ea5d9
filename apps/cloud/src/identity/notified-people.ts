/** The people whom the triggers of a machine may notify (D19). */
import { peopleOver } from '../access/grants.ts';
import type { Lineage } from '../access/principal.ts';
import type { Database } from '../metadata/tables.ts';

/** Addresses of those who own the machine, its locations or its organization, each once. */
export async function addressesOfOwners(db: Database, machine: Lineage): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('people')
    .select('email')
    .where('email', 'is not', null)
    .where('id', 'in', peopleOver(db, machine, ['owner']))
    .orderBy('email')
    .execute();
  return rows.flatMap(({ email }) => email ?? []);
}
