/** State of the installation itself, by name. */
import type { InstanceDatabase } from './store.ts';

/** Undefined if it was never written. */
export async function readState(db: InstanceDatabase, name: string): Promise<string | undefined> {
  return (await db.selectFrom('instance_state').select('value').where('name', '=', name).executeTakeFirst())?.value;
}

export async function writeState(db: InstanceDatabase, name: string, value: string): Promise<void> {
  await db
    .insertInto('instance_state')
    .values({ name, value })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
    .execute();
}
