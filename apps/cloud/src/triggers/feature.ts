/**
 * Triggers: reads every acknowledged upload after its commit and enqueues the notifications that the part's configuration asks for. It does
 * not use HTTP; the outbox sends the messages.
 */
import { type Follower, follow } from '@platform/base';
import { type FollowLogOptions, followLog, type LogFollower } from '../follow-log/follow-log.ts';
import { createCompiledTriggers } from './compiled-triggers.ts';
import { type ChangedPart, configurationsChanged } from './configurations-changed.ts';
import { createDecideRows, type DecidedTables, type DecideRowsDeps, type UploadListener } from './decide-rows.ts';
import { pruneHistory } from './history/trigger-history.ts';
import type { TriggersTransaction } from './store.ts';
import { createTimes, type TimesDeps } from './times/check-times.ts';

export interface TriggersDeps extends DecideRowsDeps {
  /** Dependencies of timed checks. Absent: no timed checks. */
  readonly times?: TimesDeps;
  readonly ingestLog: FollowLogOptions<DecidedTables>['ingestLog'];
}

export interface Triggers extends Pick<LogFollower, 'start' | 'cursor' | 'lag' | 'steps'>, AsyncDisposable {
  /**
   * Must be called in the transaction that changes effective configurations: a trigger that is new, or enabled again, applies only to
   * uploads after this moment (I11).
   */
  configurationsChanged(trx: TriggersTransaction, changes: readonly ChangedPart[]): Promise<void>;
}

export function createTriggers(deps: TriggersDeps): Triggers {
  const { db, ingestLog, clock, log, outbox } = deps;
  const compiled = createCompiledTriggers(deps);
  const times = deps.times && createTimes({ db, compiled, times: deps.times, clock, log });
  const listener: UploadListener = {
    stateChanged: (partId) => times?.touch(partId),
    arrived: (partId, upload) => times?.arrived(partId, upload),
  };
  const follower = followLog<DecidedTables>({
    name: 'triggers',
    ...{ db, ingestLog, clock, log },
    // Each trigger has its own start position.
    beginAfter: async () => 0,
    process: createDecideRows({ ...deps, compiled, listener }),
    ...(times && {
      async atTimes(asOfMs) {
        const { messages, stored, history, more } = await times.check(asOfMs);
        if (messages.length === 0 && stored.length === 0 && history.isEmpty) return { more };
        return {
          more,
          async write(trx) {
            await outbox.enqueue(trx, messages);
            for (const changed of stored) await changed.save(trx);
            await history.save(trx);
          },
          written: () => outbox.wake(),
        };
      },
    }),
  });
  let pruning: Follower | undefined;
  return {
    ...follower,
    async start() {
      await times?.start();
      await follower.start();
      const step = () => pruneHistory(db, clock.now());
      pruning = follow({ name: 'triggers: prune', step, clock, log, idleMs: 3_600_000 });
    },
    async configurationsChanged(trx, changes) {
      for (const { partId } of changes) times?.changing(partId);
      await configurationsChanged(trx, changes, ingestLog.lastPosition());
    },
    async [Symbol.asyncDispose]() {
      await pruning?.[Symbol.asyncDispose]();
      await follower[Symbol.asyncDispose]();
    },
  };
}
