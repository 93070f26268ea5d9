/** Decides which notifications an upload causes: one event per upload and trigger (D21). Pure. */
import { asPlatformError } from '@platform/base';
import type { Place } from '@platform/proto/platform/ingest/v1/log';
import type { EventPlace, Message, TriggerEvent } from '../outbox/event.ts';
import { messageId } from '../outbox/message-id.ts';
import type { ReadUpload } from './read-upload.ts';
import { notificationKey, type ThrottleKey } from './throttle.ts';
import type { Notification, Trigger } from './trigger.ts';

export interface Decision {
  readonly messages: readonly Message[];
  /** Notifications that are sent, for the throttle. */
  readonly notified: readonly ThrottleKey[];
  /** Triggers that could not be evaluated for this upload. */
  readonly damaged: readonly { readonly triggerName: string; readonly reason: string }[];
}

/** @param isThrottled whether the notification must not be sent at the time of this event */
export function decide(
  row: { readonly position: number; readonly partId: string },
  upload: ReadUpload,
  triggers: readonly Trigger[],
  isThrottled: (key: ThrottleKey, intervalMs: number) => boolean,
): Decision {
  const decision = {
    messages: [] as Message[],
    notified: [] as ThrottleKey[],
    damaged: [] as { triggerName: string; reason: string }[],
  };
  const { partId, position } = row;
  const place = placeOf(upload.place, partId);
  for (const trigger of triggers) {
    const due = trigger.notifications
      .filter(({ type }) => type !== 'push')
      .map((notification) => ({
        notification,
        key: { partId, triggerName: trigger.name, notification: notificationKey(notification) },
      }))
      .filter(({ notification, key }) => !isThrottled(key, notification.intervalMs));
    if (due.length === 0) continue;
    try {
      const event = trigger.event.ofUpload?.(upload, place);
      if (event === undefined) continue;
      for (const { notification, key } of due) {
        decision.messages.push(messageOf(trigger, notification, event, key, position, upload.syncedAtMs));
        if (notification.intervalMs > 0) decision.notified.push(key);
      }
    } catch (caught) {
      decision.damaged.push({ triggerName: trigger.name, reason: asPlatformError(caught).message });
    }
  }
  return decision;
}

function messageOf(
  trigger: Trigger,
  notification: Notification,
  event: TriggerEvent,
  key: ThrottleKey,
  position: number,
  eventAtMs: number,
): Message {
  return {
    id: messageId([key.partId, trigger.name, key.notification, position]),
    triggerName: trigger.name,
    channel: notification.type,
    target: notification.value,
    ...(notification.application !== undefined && { application: notification.application }),
    ...(notification.basicAuth && { basicAuth: notification.basicAuth }),
    event,
    eventAtMs,
  };
}

function placeOf(place: Place, partId: string): EventPlace {
  const { organizationId, organizationName, locationId, locationName, robotId, robotName, partName } = place;
  return { organizationId, organizationName, locationId, locationName, robotId, robotName, partId, partName };
}
