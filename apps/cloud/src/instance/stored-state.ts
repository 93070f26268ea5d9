/** State of the installation itself, by name. */
import type { Kysely } from 'kysely';
import type { InstanceTables } from './store.ts';

/** Undefined if it was never written. */
export async function readState(db: Kysely<InstanceTables>, name: string): Promise<string | undefined> {
  return (await db.selectFrom('instance_state').select('value').where('name', '=', name).executeTakeFirst())?.value;
}

export async function writeState(db: Kysely<InstanceTables>, name: string, value: string): Promise<void> {
  await db
    .insertInto('instance_state')
    .values({ name, value })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
    .execute();
}
