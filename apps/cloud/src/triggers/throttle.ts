/** When each notification last went out, in time of the events, so that a replay after a kill decides the same. */
import { createHash } from 'node:crypto';
import type { Notification } from './trigger.ts';

export interface ThrottleKey {
  readonly partId: string;
  readonly triggerName: string;
  /** `notificationKey` */
  readonly notification: string;
}

/** Names a notification within its trigger: the same type and value are the same notification wherever they stand. */
export function notificationKey(notification: Notification): string {
  return createHash('sha256')
    .update(JSON.stringify([notification.type, notification.value]))
    .digest('hex')
    .slice(0, 32);
}

/**
 * Whether an event at `eventAtMs` comes too early. A cloud clock that was set back by more than the interval does not
 * silence the notification until it has caught up.
 */
export function isThrottled(lastEventAtMs: number | undefined, eventAtMs: number, intervalMs: number): boolean {
  if (lastEventAtMs === undefined || intervalMs <= 0) return false;
  return Math.abs(eventAtMs - lastEventAtMs) < intervalMs;
}

/** The times as the follower works on them: read from the table, changed by what it decides, written with the cursor. */
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
