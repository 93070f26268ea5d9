import { createHash } from 'node:crypto';

/** Derives the id of a message from its cause, so that each cause is enqueued once, however often it is processed (I11). */
export function messageId(cause: readonly (string | number)[]): string {
  return `msg_${createHash('sha256').update(JSON.stringify(cause)).digest('hex').slice(0, 40)}`;
}
