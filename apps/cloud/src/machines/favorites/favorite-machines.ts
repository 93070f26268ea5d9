/** Machines that a person marked as favorites. Deleting the machine or the person deletes the rows (foreign keys). */
import { resourceExhausted } from '@platform/base';
import { audit, type Caller } from '../../access/audit.ts';
import type { MachineOperationDeps } from '../machines-deps.ts';

/** Maximum machines of one person. Every list returns all of them in one message. */
const maxFavorites = 500;

type FavoriteDeps = Pick<MachineOperationDeps, 'db' | 'clock'>;

export interface Favorite {
  readonly machineId: string;
  readonly addedMs: number;
}

/** The caller must see the machine. Marking a favorite again changes nothing. @throws resource_exhausted */
export async function addFavorite(
  { db, clock }: FavoriteDeps,
  by: Caller,
  personId: string,
  machineId: string,
): Promise<void> {
  const added_ms = clock.now();
  await db.transaction().execute(async (trx) => {
    const inserted = await trx
      .insertInto('favorite_machines')
      .values({ person_id: personId, machine_id: machineId, added_ms })
      .onConflict((conflict) => conflict.doNothing())
      .returning('machine_id')
      .execute();
    if (inserted.length === 0) return;
    const { count } = await trx
      .selectFrom('favorite_machines')
      .select((eb) => eb.fn.countAll().as('count'))
      .where('person_id', '=', personId)
      .executeTakeFirstOrThrow();
    if (Number(count) > maxFavorites)
      throw resourceExhausted(
        `favorites: expected at most ${maxFavorites} machines for one person, found one more; remove some first`,
      );
    const target = ['person', personId, null] as const;
    await audit(trx, by, added_ms, 'AppService.AddFavoriteMachine', target, { machine: machineId });
  });
}

/** Returns false if the machine was not a favorite. */
export async function removeFavorite(
  { db, clock }: FavoriteDeps,
  by: Caller,
  personId: string,
  machineId: string,
): Promise<boolean> {
  return await db.transaction().execute(async (trx) => {
    const deleted = await trx
      .deleteFrom('favorite_machines')
      .where('person_id', '=', personId)
      .where('machine_id', '=', machineId)
      .returning('machine_id')
      .execute();
    if (deleted.length === 0) return false;
    const target = ['person', personId, null] as const;
    await audit(trx, by, clock.now(), 'AppService.RemoveFavoriteMachine', target, { machine: machineId });
    return true;
  });
}

/** In the order in which they were added. */
export async function favoritesOf({ db }: Pick<FavoriteDeps, 'db'>, personId: string): Promise<readonly Favorite[]> {
  const rows = await db
    .selectFrom('favorite_machines')
    .select(['machine_id', 'added_ms'])
    .where('person_id', '=', personId)
    .orderBy('added_ms')
    .orderBy('machine_id')
    .execute();
  return rows.map((row) => ({ machineId: row.machine_id, addedMs: Number(row.added_ms) }));
}
