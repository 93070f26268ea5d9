/** When each notification was last sent, in event time, so that a replay after a kill decides the same. */
import { createHash } from 'node:crypto';
import type { Notification } from './trigger.ts';

export interface ThrottleKey {
  readonly partId: string;
  readonly triggerName: string;
  /** `notificationKey` */
  readonly notification: string;
}

/** Identifies a notification within its trigger: the same type and value give the same key at any index. */
export function notificationKey(notification: Notification): string {
  return createHash('sha256')
    .update(JSON.stringify([notification.type, notification.value]))
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

/** The follower's working copy: read from the table, changed by its decisions, written with the cursor. */
export class Throttles {
  readonly #last = new Map<string, number>();
  readonly #changed = new Map<string, ThrottleKey & { readonly lastEventAtMs: number }>();

  load(key: ThrottleKey, lastEventAtMs: number): void {
    this.#last.set(textOf(key), lastEventAtMs);
  }

  isThrottled(key: ThrottleKey, eventAtMs: number, intervalMs: number): boolean {
    return isThrottled(this.#last.get(textOf(key)), eventAtMs, intervalMs);
  }

  set(key: ThrottleKey, lastEventAtMs: number): void {
    this.#last.set(textOf(key), lastEventAtMs);
    this.#changed.set(textOf(key), { ...key, lastEventAtMs });
  }

  changes(): readonly (ThrottleKey & { readonly lastEventAtMs: number })[] {
    return [...this.#changed.values()];
  }
}

function textOf(key: ThrottleKey): string {
  return JSON.stringify([key.partId, key.triggerName, key.notification]);
}
