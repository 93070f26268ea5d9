/** D36: machines at one location have different names, because people and commands address them by place and name. */
import { alreadyExists } from '@platform/base';
import type { Kysely } from 'kysely';
import { isSameName } from '../text-rules/same-name.ts';
import type { MachinesTables } from './store.ts';

/**
 * Machines that already share a name keep it. A caller who may rename a machine but does not see another learns nothing about that one.
 * @throws already_exists
 */
export async function requireFreeName(
  trx: Pick<Kysely<MachinesTables>, 'selectFrom'>,
  sees: (machineId: string) => boolean,
  { locationId, name, id }: { readonly locationId: string; readonly name: string; readonly id?: string },
): Promise<void> {
  const there = await trx.selectFrom('machines').select(['id', 'name']).where('location_id', '=', locationId).execute();
  const other = there.find((one) => isSameName(one.name, name) && one.id !== id && sees(one.id));
  if (other !== undefined)
    throw alreadyExists(
      `name: expected one that no other machine at location ${locationId} has, found ${JSON.stringify(name)}, the name of machine ${other.id}`,
    );
}
