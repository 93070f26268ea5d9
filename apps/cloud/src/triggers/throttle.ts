/** Intervals between notifications, in event time, so that a replay after a kill decides the same. */
import { createHash } from 'node:crypto';
import type { Notification } from './trigger.ts';

/** Identifies a notification within its trigger: the same type, value and application give the same key at any index. */
export function notificationKey({ type, value, application }: Notification): string {
  return createHash('sha256')
    .update(JSON.stringify(application === undefined ? [type, value] : [type, value, application]))
    .digest('hex')
    .slice(0, 32);
}

/**
 * Whether an event at `eventAtMs` comes too early. If the cloud's clock was set back by more than the interval, the event is not throttled;
 * otherwise the notification would be silent until the clock has caught up.
 */
export function isThrottled(lastEventAtMs: number | undefined, eventAtMs: number, intervalMs: number): boolean {
  if (lastEventAtMs === undefined || intervalMs <= 0) return false;
  return Math.abs(eventAtMs - lastEventAtMs) < intervalMs;
}
