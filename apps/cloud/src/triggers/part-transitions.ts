/**
 * part_online and part_offline: every transition of a part causes one notification (D17, D22). The notifications are decided before the
 * transaction that records the transitions, and enqueued inside it, so that both are stored or neither is.
 */
import { asPlatformError, type Log } from '@platform/base';
import type { Transaction } from 'kysely';
import type { PartTriggers } from '../machines/configuration/triggers-of.ts';
import type { EventPlace, Message } from '../outbox/event.ts';
import type { OutboxTables } from '../outbox/store.ts';
import { evaluate, noState } from './evaluate.ts';
import { messagesOf } from './messages-of.ts';
import { parseTriggers } from './parsing/parse-triggers.ts';

export interface PartTransition {
  readonly partId: string;
  /** Sequence number of the part's transitions; each number is unique. */
  readonly number: number;
  readonly kind: 'online' | 'offline';
  /** Wall clock, ms. */
  readonly atMs: number;
}

export interface TransitionNotifications {
  /** Enqueues inside the caller's transaction; a repeated call changes nothing. */
  record(trx: Transaction<OutboxTables>): Promise<void>;
  /** Call it after the commit. */
  committed(): void;
}

export interface PartTransitionsDeps {
  readonly configOf: (partId: string) => Promise<PartTriggers | undefined>;
  /** Undefined for a deleted part, which causes no notification. */
  readonly placeOf: (partId: string) => EventPlace | undefined;
  readonly outbox: {
    enqueue(trx: Transaction<OutboxTables>, messages: readonly Message[]): Promise<unknown>;
    wake(): void;
  };
  readonly log: Log;
}

export function createPartTransitions(
  options: PartTransitionsDeps,
): (transitions: readonly PartTransition[]) => Promise<TransitionNotifications> {
  const { configOf, placeOf, outbox, log } = options;

  const messagesOf = async (transition: PartTransition): Promise<readonly Message[]> => {
    const { partId } = transition;
    const config = await configOf(partId);
    const place = placeOf(partId);
    if (config === undefined || place === undefined) return [];
    try {
      return messagesFor(transition, config, place);
    } catch (caught) {
      // One broken configuration must not block the transitions of other parts.
      log.error('the triggers of a part could not be read; no one is notified of its transition', {
        partId,
        error: asPlatformError(caught).message,
      });
      return [];
    }
  };

  return async (transitions) => {
    const messages = (await Promise.all(transitions.map(messagesOf))).flat();
    return {
      async record(trx) {
        if (messages.length > 0) await outbox.enqueue(trx, messages);
      },
      committed() {
        if (messages.length > 0) outbox.wake();
      },
    };
  };
}

function messagesFor(transition: PartTransition, config: PartTriggers, place: EventPlace): readonly Message[] {
  const { partId, number, kind: status, atMs } = transition;
  return parseTriggers(config.triggers, config.components)
    .triggers.filter(({ enabled }) => enabled)
    .flatMap((trigger) =>
      evaluate(trigger, noState, { kind: 'transition', number, status, atMs, place }).decisions.flatMap((decision) =>
        messagesOf(partId, trigger, decision),
      ),
    );
}
