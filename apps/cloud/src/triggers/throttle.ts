/** Intervals between notifications, in event time, so that a replay after a kill decides the same way. */
import { createHash } from 'node:crypto';
import { memoized } from '@platform/base';
import type { Notification } from './trigger.ts';

/**
 * Identifies a notification within its trigger: the same type, value and application give the same key at any index. Notifications are
 * parsed once, but their key is needed at each event.
 */
export const notificationKey: (notification: Notification) => string = memoized(({ type, value, application }) => {
  const identity = application === undefined ? [type, value] : [type, value, application];
  return createHash('sha256').update(JSON.stringify(identity)).digest('hex').slice(0, 32);
});

/**
 * Whether an event at `eventAtMs` comes too early. If the cloud's clock was set back by more than the interval, the event is not throttled;
 * otherwise the notification would be silent until the clock has caught up.
 */
export function isThrottled(lastEventAtMs: number | undefined, eventAtMs: number, intervalMs: number): boolean {
  if (lastEventAtMs === undefined || intervalMs <= 0) return false;
  return Math.abs(eventAtMs - lastEventAtMs) < intervalMs;
}
