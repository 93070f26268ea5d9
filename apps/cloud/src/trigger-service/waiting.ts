/** Why a delivery has not been sent yet, for people. */

import type { Obstacle } from '../outbox/deliver.ts';
import type { Delivery, DeliveryRow } from '../outbox/deliveries/list-deliveries.ts';

type Waiting = Pick<Delivery, 'state' | 'attempts'> &
  Pick<DeliveryRow, 'next_attempt_at' | 'created_at' | 'retried_at' | 'retried_attempts' | 'urgency' | 'channel'>;

/**
 * @param obstacle what the outbox knows about its target
 * @param pause why its target is paused
 * @returns empty: it does not wait
 */
export function waitsBecause(one: Waiting, obstacle: Obstacle | undefined, pause: string | undefined): string {
  if (one.state === 'paused') return `its target is paused${pause === undefined ? '' : `: ${pause}`}`;
  if (one.state !== 'pending') return '';
  switch (obstacle?.kind) {
    case 'sending':
      return 'it is being sent';
    case 'noChannel':
      return `this installation sends nothing by ${one.channel}`;
    case 'failing':
      return 'its target keeps failing: it gets one message at a time as a trial, the oldest first';
    case 'busy':
      return 'its target is busy with earlier messages';
  }
  const failed = one.attempts.length > one.retried_attempts ? one.attempts.at(-1)?.error : undefined;
  if (failed !== undefined && failed !== null) return `the last attempt failed: ${failed}`;
  const isHeld = one.channel === 'email' && one.next_attempt_at > (one.retried_at ?? one.created_at);
  if (isHeld && one.urgency === 'data')
    return 'the recipient has got as many mails about data as one may get in an hour: the next one lists this notification, too';
  if (isHeld) return 'the recipient gets several notices at this moment: one mail lists them all';
  return 'it is due, and is sent in a moment';
}

/** When it is tried next, ms. */
export function nextAttemptMs({ next_attempt_at }: Waiting, obstacle: Obstacle | undefined): number {
  return obstacle?.kind === 'failing' ? Math.max(next_attempt_at, obstacle.untilMs) : next_attempt_at;
}
