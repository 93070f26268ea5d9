/** Compares the notifications in the outbox with the mails in the mailboxes. */
import type { Figure } from '../store/figure.ts';
import type { DeliveredMail } from './start-exim.ts';

/** A notification, as the outbox has it. */
export interface Notification {
  readonly id: string;
  readonly createdMs: number;
}

export interface CheckedMails {
  readonly mails: number;
  /** Notifications that are in no mail. */
  readonly lost: number;
  /** Notifications that are in more than one mail with different Message-IDs. */
  readonly doubled: number;
  /** Mails whose Message-ID another mail has, too. */
  readonly repeated: number;
  /** From the notification to the mail in the mailbox. */
  readonly longestMs: number;
  /** Most mails within any hour. */
  readonly mostInHour: number;
}

export function checkMails(notifications: readonly Notification[], mails: readonly DeliveredMail[]): CheckedMails {
  const ids = new Set(mails.map(({ headers }) => headers.get('message-id')));
  const mailsOf = new Map<string, { readonly messageIds: Set<string>; firstMs: number }>();
  for (const { text, headers, deliveredMs } of mails)
    for (const [, id = ''] of text.matchAll(/\/notifications\/([\w-]+)/g)) {
      const known = mailsOf.get(id) ?? { messageIds: new Set<string>(), firstMs: Number.POSITIVE_INFINITY };
      known.messageIds.add(headers.get('message-id') ?? '');
      known.firstMs = Math.min(known.firstMs, deliveredMs);
      mailsOf.set(id, known);
    }
  const found = notifications.map((one) => ({ one, mail: mailsOf.get(one.id) }));
  const times = mails.map(({ deliveredMs }) => deliveredMs);
  return {
    mails: mails.length,
    lost: found.filter(({ mail }) => mail === undefined).length,
    doubled: found.filter(({ mail }) => (mail?.messageIds.size ?? 0) > 1).length,
    repeated: mails.length - ids.size,
    longestMs: Math.max(0, ...found.flatMap(({ one, mail }) => (mail ? [mail.firstMs - one.createdMs] : []))),
    mostInHour: Math.max(0, ...times.map((to) => times.filter((at) => at > to - 3_600_000 && at <= to).length)),
  };
}

/** @param mostS the longest delay; absent: not limited */
export function figuresOf(name: string, count: number, checked: CheckedMails, mostS?: number): Figure[] {
  const { mails, lost, doubled, repeated, longestMs } = checked;
  const of = `of ${count} in ${mails} mails${repeated > 0 ? `, ${repeated} of them repeated` : ''}`;
  return [
    { name: `${name}: lost`, value: lost, unit: 'notifications', most: 0, note: of },
    { name: `${name}: in several mails`, value: doubled, unit: 'notifications', most: 0 },
    {
      ...{ name: `${name}: longest time to the mailbox`, value: longestMs / 1_000, unit: 's' },
      ...(mostS !== undefined && { most: mostS }),
    },
  ];
}
