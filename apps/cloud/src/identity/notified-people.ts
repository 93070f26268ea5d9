/** The people whom the triggers of a machine may notify (D19). */
import { peopleIn, peopleOver } from '../access/grants.ts';
import type { Lineage } from '../access/principal.ts';
import type { Database } from '../metadata/tables.ts';

/** Addresses of those who own the machine, its locations or its organization, without duplicates. */
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

/** The id of the person with this address, if they own or operate the machine; undefined otherwise. */
export async function personOver(db: Database, machine: Lineage, address: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('people')
    .select('id')
    .where('email', '=', address.trim().toLowerCase())
    .where('id', 'in', peopleOver(db, machine, ['owner', 'operator']))
    .executeTakeFirst();
  return row?.id;
}

/**
 * The time zone that the person with this address has chosen; empty: none, or the address is that of nobody with a role in the organization,
 * which must not learn who else has an account.
 */
export async function zoneOfMember(db: Database, organizationId: string, address: string): Promise<string> {
  const row = await db
    .selectFrom('people')
    .select('time_zone')
    .where('email', '=', address.trim().toLowerCase())
    .where('id', 'in', peopleIn(db, organizationId))
    .executeTakeFirst();
  return row?.time_zone ?? '';
}
