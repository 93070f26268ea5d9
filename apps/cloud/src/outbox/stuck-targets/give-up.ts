/**
 * Ends messages that could not be tried, because their target never had room for them. This is recorded as a rejected attempt, so that the
 * delivery log shows the reason; like any failed message, they can be requested again.
 */
import type { ClockAndLog } from '@platform/base';
import type { OutboxDeps } from '../deliver.ts';
import { failureLine } from '../failure-line.ts';
import type { Overdue } from './backlog.ts';

export interface GiveUpDeps extends ClockAndLog, Pick<OutboxDeps, 'db' | 'appendMachineLog'> {}

/** @param all held messages that are not being sent @param longestMs minimum time for which they have been due */
export async function giveUp(deps: GiveUpDeps, all: readonly Overdue[], longestMs: number): Promise<void> {
  const hours = Math.floor(longestMs / 3_600_000);
  const error = `not tried for ${hours} hours, because the target kept failing or was always busy; given up: retry or replay it when the target works`;
  // Reported before it is written, as with attempts: if the process is killed in between, it is reported again.
  const alike = Map.groupBy(all, ({ part_id, trigger_name, target }) =>
    JSON.stringify([part_id, trigger_name, target]),
  );
  for (const some of alike.values()) await tell(deps, some, error);
  await write(deps, all, error);
}

/** One line for many messages, because a target that is down leaves thousands. */
async function tell({ db, log, appendMachineLog }: GiveUpDeps, some: readonly Overdue[], error: string): Promise<void> {
  const [first] = some;
  if (first === undefined) return;
  const { id, part_id: partId } = first;
  const count = some.length;
  const said = count === 1 ? error : `${count} messages were ${error}`;
  const row = await db.selectFrom('outbox_messages').selectAll().where('id', '=', id).executeTakeFirst();
  if (row === undefined) return;
  if (partId === '') return log.error('messages were given up', { messageId: id, count, target: row.target, error });
  const line = failureLine(row, said, undefined);
  await appendMachineLog(partId, { ...line, fields: { ...line.fields, messages: count } });
}

async function write({ db, clock }: GiveUpDeps, all: readonly Overdue[], error: string): Promise<void> {
  const nowMs = clock.now();
  const ids = all.map(({ id }) => id);
  const what = { at: nowMs, duration_ms: 0, outcome: 'rejected', code: null, error, response: null } as const;
  await db.transaction().execute(async (trx) => {
    const given = await trx
      .updateTable('outbox_messages')
      .set(({ eb }) => ({
        ...{ state: 'failed', held: 0, finished_at: nowMs, sealed: null },
        attempts: eb('attempts', '+', 1),
      }))
      .where('id', 'in', ids)
      // Its target may have been paused or resumed since the query.
      .where('state', '=', 'pending')
      .where('held', '=', 1)
      .returning(['id', 'attempts'])
      .execute();
    if (given.length === 0) return;
    await trx
      .insertInto('outbox_attempts')
      .values(given.map(({ id, attempts }) => ({ message_id: id, attempt: Number(attempts), ...what })))
      .execute();
  });
}
