/** Intervals between notifications, in event time, so that a replay after a kill decides the same way. */
import { createHash } from 'node:crypto';
import type { Notification } from './trigger.ts';

/** Notifications are parsed once, but their key is needed at each event. */
const keys = new WeakMap<Notification, string>();

/** Identifies a notification within its trigger: the same type, value and application give the same key at any index. */
export function notificationKey(notification: Notification): string {
  let key = keys.get(notification);
  if (key === undefined) {
    const { type, value, application } = notification;
    const identity = application === undefined ? [type, value] : [type, value, application];
    key = createHash('sha256').update(JSON.stringify(identity)).digest('hex').slice(0, 32);
    keys.set(notification, key);
  }
  return key;
}

/**
 * Whether an event at `eventAtMs` comes too early. If the cloud's clock was set back by more than the interval, the event is not throttled;
 * otherwise the notification would be silent until the clock has caught up.
 */
export function isThrottled(lastEventAtMs: number | undefined, eventAtMs: number, intervalMs: number): boolean {
  if (lastEventAtMs === undefined || intervalMs <= 0) return false;
  return Math.abs(eventAtMs - lastEventAtMs) < intervalMs;
}
