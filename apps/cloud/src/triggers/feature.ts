/**
 * Triggers: reads every acknowledged upload after its commit and enqueues the notifications that the part's configuration asks for. It does
 * not use HTTP; the outbox sends the messages.
 */
import type { Transaction } from 'kysely';
import { type FollowLogOptions, followLog, type LogFollower } from '../follow-log/follow-log.ts';
import { type ChangedPart, configurationsChanged } from './configurations-changed.ts';
import { createDecideRows, type DecidedTables, type DecideRowsDeps } from './decide-rows.ts';
import type { TriggersTables } from './store.ts';

export interface TriggersDeps extends DecideRowsDeps {
  readonly ingestLog: FollowLogOptions<DecidedTables>['ingestLog'];
}

export interface Triggers extends Pick<LogFollower, 'start' | 'cursor' | 'lag' | 'steps'>, AsyncDisposable {
  /**
   * Call it in the transaction that changes effective configurations: a trigger that is new, or enabled again, applies only to uploads
   * after this moment (I11).
   */
  configurationsChanged(trx: Transaction<TriggersTables>, changes: readonly ChangedPart[]): Promise<void>;
}

export function createTriggers(deps: TriggersDeps): Triggers {
  const { db, ingestLog, clock, log } = deps;
  const follower = followLog<DecidedTables>({
    name: 'triggers',
    ...{ db, ingestLog, clock, log },
    // Each trigger has its own start position.
    beginAfter: async () => 0,
    process: createDecideRows(deps),
  });
  return {
    ...follower,
    configurationsChanged: (trx, changes) => configurationsChanged(trx, changes, ingestLog.lastPosition()),
  };
}
