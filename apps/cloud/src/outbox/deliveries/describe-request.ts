/**
 * Describes for people what a delivery sends: built by the code that makes the request, but without secrets and values that differ per
 * attempt. Pure.
 */
import { mailText } from '../email/notification-mail.ts';
import { eventOf } from '../event.ts';
import { pushMessage } from '../push/push-message.ts';
import type { OutboxMessageRow } from '../store.ts';
import { webhookRequest } from '../webhook/webhook-request.ts';

export interface DescribedRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

type Row = Pick<OutboxMessageRow, 'id' | 'channel' | 'event' | 'event_at' | 'trigger_name' | 'application'>;

/** undefined: the stored event cannot be read. @param zone of the recipient of a mail */
export function describeRequest(row: Row, zone: string): DescribedRequest | undefined {
  const event = eventOf(row.event);
  if (event === undefined) return undefined;
  const { id, channel, event_at: eventAtMs, trigger_name: triggerName, application } = row;
  if (channel === 'webhook') {
    const { method, headers, body } = webhookRequest(event);
    return { method, headers: { ...readable(headers), 'webhook-id': id }, body };
  }
  if (channel === 'push') {
    const message = pushMessage(event, { id, triggerName, application: application ?? '' }, '');
    return { method: 'PUSH', headers: {}, body: JSON.stringify(message) };
  }
  const { subject, text } = mailText({ triggerName, event, eventAtMs, link: `/notifications/${id}`, zone });
  return { method: 'MAIL', headers: {}, body: `${subject}\n\n${text}` };
}

/** On the wire, header bytes are UTF-8 (webhook-request.ts). */
function readable(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Buffer.from(value, 'latin1').toString('utf8')]),
  );
}
