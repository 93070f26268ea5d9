/**
 * Decides which messages rows of the ingest log cause. Messages and throttles are written together with the cursor (I11). A database or
 * configuration that cannot be read fails the step, which is then retried. A trigger that cannot be evaluated for an upload is recorded.
 */
import { asPlatformError, type Clock, type Log } from '@platform/base';
import type { Kysely, Transaction } from 'kysely';
import type { Processed } from '../follow-log/follow-log.ts';
import type { LogCursorsTables } from '../follow-log/store.ts';
import type { LogRow } from '../ingest/log/log.ts';
import type { Message } from '../outbox/event.ts';
import type { OutboxTables } from '../outbox/store.ts';
import { createCompiledTriggers, type PartTriggers } from './compiled-triggers.ts';
import { decide } from './decide.ts';
import { readUpload } from './read-upload.ts';
import { loadStarts, loadThrottles, saveThrottles, saveUndecided, type Undecided } from './state.ts';
import type { TriggersTables } from './store.ts';
import type { Throttles } from './throttle.ts';
import type { Trigger } from './trigger.ts';

export type DecidedTables = TriggersTables & OutboxTables & LogCursorsTables;

export interface DecideRowsDeps {
  readonly db: Kysely<DecidedTables>;
  readonly configOf: (partId: string) => Promise<PartTriggers | undefined>;
  readonly outbox: {
    enqueue(trx: Transaction<OutboxTables>, messages: readonly Message[]): Promise<void>;
    wake(): void;
  };
  readonly clock: Clock;
  readonly log: Log;
}

/** Messages per transaction. */
const maxMessages = 200;
/** A step yields after this time, so that it never blocks the process's other work for long. */
const maxStepMs = 10;

interface Effects {
  readonly messages: Message[];
  readonly undecided: Undecided[];
  readonly damaged: { readonly row: LogRow; readonly reason: string }[];
}

export function createDecideRows(
  options: DecideRowsDeps,
): (rows: readonly LogRow[]) => Promise<Processed<DecidedTables>> {
  const { db, outbox, clock, log } = options;
  const compiled = createCompiledTriggers(options);

  const decideRow = (
    row: LogRow,
    triggers: readonly Trigger[],
    throttles: Throttles,
    { messages, undecided }: Effects,
  ): void => {
    const upload = readUpload(row.batch);
    const at = upload.syncedAtMs;
    const decided = decide(row, upload, triggers, (key, intervalMs) => throttles.isThrottled(key, at, intervalMs));
    messages.push(...decided.messages);
    for (const key of decided.notified) throttles.set(key, at);
    for (const { triggerName, reason } of decided.damaged) {
      const { position, partId } = row;
      undecided.push({ position, triggerName, partId, reason, atMs: clock.now() });
      log.error('an upload could not be processed; it is recorded and skipped', {
        ...{ position, partId, trigger: triggerName, reason },
      });
    }
  };

  return async (rows) => {
    const triggersOf = await compiled.of(rows.map(({ partId }) => partId));
    if (triggersOf.size === 0) return {};
    const parts = [...triggersOf.keys()];
    const starts = await loadStarts(db, parts);
    const throttles = await loadThrottles(db, parts);
    const effects: Effects = { messages: [], undecided: [], damaged: [] };
    const startedAtMs = clock.monotonic();
    let upTo: number | undefined;
    for (const row of rows) {
      const triggers = triggersOf.get(row.partId)?.filter(({ name }) => row.position > starts(row.partId, name)) ?? [];
      if (triggers.length > 0) {
        try {
          decideRow(row, triggers, throttles, effects);
        } catch (caught) {
          effects.damaged.push({ row, reason: asPlatformError(caught).message });
        }
      }
      if (effects.messages.length < maxMessages && clock.monotonic() - startedAtMs < maxStepMs) continue;
      upTo = row.position;
      break;
    }
    const { messages, undecided, damaged } = effects;
    return {
      ...(upTo !== undefined && { upTo }),
      damaged,
      ...((messages.length > 0 || undecided.length > 0) && {
        async write(trx: Transaction<DecidedTables>) {
          if (messages.length > 0) await outbox.enqueue(trx, messages);
          await saveThrottles(trx, throttles.changes());
          await saveUndecided(trx, undecided);
        },
      }),
      ...(messages.length > 0 && { written: () => outbox.wake() }),
    };
  };
}
