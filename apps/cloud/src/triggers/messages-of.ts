/** The messages of a decision: one for each notification that is sent. */
import type { Message } from '../outbox/event.ts';
import { messageId } from '../outbox/message-id.ts';
import type { TriggerDecision } from './evaluate.ts';
import type { Trigger } from './trigger.ts';

/** The message ids of a decision's notifications, including those that are not sent. */
export function messageIdsOf(partId: string, trigger: Pick<Trigger, 'name'>, decision: TriggerDecision): string[] {
  return decision.notifications.map(({ key }) => messageId([partId, trigger.name, key, ...decision.cause]));
}

export function messagesOf(partId: string, trigger: Trigger, decision: TriggerDecision): readonly Message[] {
  return decision.notifications.flatMap(({ notification, key, suppressed }): Message[] => {
    if (suppressed !== undefined) return [];
    return [
      {
        id: messageId([partId, trigger.name, key, ...decision.cause]),
        triggerName: trigger.name,
        channel: notification.type,
        target: notification.value,
        ...(notification.application !== undefined && { application: notification.application }),
        ...(notification.basicAuth && { basicAuth: notification.basicAuth }),
        event: decision.event(),
        eventAtMs: decision.atMs,
      },
    ];
  });
}
