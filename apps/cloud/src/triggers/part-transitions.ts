/**
 * part_online and part_offline: every transition of a part causes one notification (D17, D22). The notifications are decided before the
 * transaction that records the transitions, and enqueued within it, so that either both are stored or neither is.
 */

import { asPlatformError } from '@platform/base';
import type { Transaction } from 'kysely';
import type { PartTriggers } from '../machines/configuration/triggers-of.ts';
import type { Transition } from '../machines/presence/presence.ts';
import type { EventPlace } from '../outbox/event.ts';
import type { OutboxTables } from '../outbox/store.ts';
import type { DecideRowsDeps } from './decide-rows.ts';
import { evaluate, noState, type TriggerDecision } from './evaluate.ts';
import { isLastFired, TriggerHistory } from './history/trigger-history.ts';
import { messagesOf } from './messages-of.ts';
import { parseTriggers } from './parsing/parse-triggers.ts';
import type { TriggersTables, TriggersTransaction } from './store.ts';
import type { Trigger } from './trigger.ts';

export interface TransitionNotifications {
  /** Enqueues within the caller's transaction; a repeated call changes nothing. */
  record(trx: Transaction<OutboxTables & TriggersTables>): Promise<void>;
  /** Must be called after the commit. */
  committed(): void;
}

export interface PartTransitionsDeps extends Pick<DecideRowsDeps, 'configOf' | 'outbox' | 'log'> {
  /** Undefined for a deleted part, which causes no notification. */
  readonly placeOf: (partId: string) => EventPlace | undefined;
}

export function createPartTransitions(
  options: PartTransitionsDeps,
): (transitions: readonly Transition[]) => Promise<TransitionNotifications> {
  const { configOf, placeOf, outbox, log } = options;

  const decidedOf = async (transition: Transition): Promise<readonly Decided[]> => {
    const { partId } = transition;
    const config = await configOf(partId);
    const place = placeOf(partId);
    if (config === undefined || place === undefined) return [];
    try {
      return decide(transition, config, place);
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
    const decided = (await Promise.all(transitions.map(decidedOf))).flat();
    const messages = decided.flatMap(({ place, trigger, decision }) => messagesOf(place.partId, trigger, decision));
    return {
      async record(trx) {
        if (messages.length > 0) await outbox.enqueue(trx, messages);
        await saveHistory(trx, decided);
      },
      committed() {
        if (messages.length > 0) outbox.wake();
      },
    };
  };
}

interface Decided {
  readonly place: EventPlace;
  readonly trigger: Trigger;
  readonly decision: TriggerDecision;
}

function decide(transition: Transition, config: PartTriggers, place: EventPlace): readonly Decided[] {
  const { number, kind: status, atMs } = transition;
  return parseTriggers(config.triggers, config.components)
    .triggers.filter(({ enabled }) => enabled)
    .flatMap((trigger) =>
      evaluate(trigger, noState, { kind: 'transition', number, status, atMs, place }).decisions.map((decision) => ({
        place,
        trigger,
        decision,
      })),
    );
}

async function saveHistory(trx: TriggersTransaction, decided: readonly Decided[]): Promise<void> {
  const history = new TriggerHistory();
  for (const { place, trigger, decision } of decided) {
    const of = { organizationId: place.organizationId, partId: place.partId, triggerName: trigger.name };
    // An earlier attempt may have committed without its answer arriving.
    if (!(await isLastFired(trx, of, decision.cause))) history.decided(of, decision);
  }
  await history.save(trx);
}
