import type { Transaction } from 'kysely';
import { parseTriggers } from './parse-triggers.ts';
import type { TriggersTables } from './store.ts';

/**
 * Notes from which position on each trigger of a part fires: one that is new, or was disabled until now, from the end
 * of the log (I11); one that is gone or disabled is forgotten with its throttle.
 */
export async function configurationSaved(
  trx: Transaction<TriggersTables>,
  partId: string,
  triggers: unknown,
  lastPosition: number,
): Promise<void> {
  const running = new Set(
    parseTriggers(triggers, [])
      .triggers.filter(({ enabled }) => enabled)
      .map(({ name }) => name),
  );
  const rows = await trx.selectFrom('trigger_starts').select('trigger_name').where('part_id', '=', partId).execute();
  const known = new Set(rows.map((row) => row.trigger_name));
  const gone = [...known.difference(running)];
  const fresh = [...running.difference(known)];
  if (gone.length > 0) {
    await trx.deleteFrom('trigger_starts').where('part_id', '=', partId).where('trigger_name', 'in', gone).execute();
    await trx.deleteFrom('trigger_throttles').where('part_id', '=', partId).where('trigger_name', 'in', gone).execute();
  }
  if (fresh.length > 0) {
    await trx
      .insertInto('trigger_starts')
      .values(fresh.map((name) => ({ part_id: partId, trigger_name: name, position: lastPosition })))
      .execute();
  }
}
