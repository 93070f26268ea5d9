import { chunks } from '@platform/base';
import { triggersOfDocument } from './parsing/parse-document.ts';
import type { TriggersTables, TriggersTransaction } from './store.ts';

/** Rows, or part ids, per statement: stores limit the number of bound values. */
const rowsPerStatement = 150;

/** A decoded effective document; undefined: the part was deleted. */
export interface ChangedPart {
  readonly partId: string;
  readonly after: unknown;
}

/**
 * Records the position after which each trigger of a part fires. A trigger that is new or was disabled starts at the end of the log (I11).
 * A trigger that was removed or disabled is forgotten, with its throttles and its state.
 */
export async function configurationsChanged(
  trx: TriggersTransaction,
  changes: readonly ChangedPart[],
  lastPosition: number,
): Promise<void> {
  for (const some of chunks(changes, rowsPerStatement)) await writeSome(trx, some, lastPosition);
}

async function writeSome(trx: TriggersTransaction, changes: readonly ChangedPart[], position: number): Promise<void> {
  const ids = changes.map(({ partId }) => partId);
  const rows = await trx
    .selectFrom('trigger_starts')
    .select(['part_id', 'trigger_name'])
    .where('part_id', 'in', ids)
    .execute();
  const namesOf = Map.groupBy(rows, (row) => row.part_id);
  const fresh: TriggersTables['trigger_starts'][] = [];
  for (const { partId, after } of changes) {
    const running = enabledIn(after);
    const known = new Set(namesOf.get(partId)?.map((row) => row.trigger_name));
    const gone = [...known.difference(running)];
    if (gone.length > 0)
      for (const table of ['trigger_starts', 'trigger_throttles', 'trigger_states'] as const)
        await trx.deleteFrom(table).where('part_id', '=', partId).where('trigger_name', 'in', gone).execute();
    for (const name of running.difference(known)) fresh.push({ part_id: partId, trigger_name: name, position });
  }
  for (const some of chunks(fresh, rowsPerStatement)) await trx.insertInto('trigger_starts').values(some).execute();
}

function enabledIn(document: unknown): ReadonlySet<string> {
  const { triggers } = triggersOfDocument(document);
  return new Set(triggers.filter(({ enabled }) => enabled).map(({ name }) => name));
}
