/**
 * The mail for notifications that are sent together: reads their events, groups them by part and trigger, and adds what all mails contain.
 */
import { chunks } from '@platform/base';
import type { InstanceKey } from '../../instance/instance-key.ts';
import type { GatheredMessage } from '../channel.ts';
import { eventOf, type TriggerEvent } from '../event.ts';
import type { OutboxDatabase } from '../store.ts';
import type { MailContent } from './mail.ts';
import { type MailBranding, type MailEntry, notificationMail } from './notification-mail.ts';
import { unsubscribeLink } from './unsubscribe.ts';

export interface Branding extends MailBranding {
  /** Address for replies; empty: the sender address of the installation. */
  readonly supportEmail: string;
}

export interface NotificationMailDeps {
  readonly db: OutboxDatabase;
  readonly instanceKey: Pick<InstanceKey, 'sign'>;
  readonly branding: (organizationId: string) => Promise<Branding>;
  /** Public URL of this installation, without a trailing slash. */
  readonly publicUrl: () => string;
}

export interface Attachment {
  readonly filename: string;
  readonly contentType: string;
  readonly content: Buffer;
}

/** Content and headers of a mail, without sender and recipient. */
export interface WrittenMail extends Pick<MailContent, 'subject' | 'text' | 'html' | 'fromName' | 'replyTo'> {
  readonly headers?: Readonly<Record<string, string>>;
  readonly attachments?: readonly Attachment[];
}

/** Maximum triggers with a separate section; the others are only counted. Their events may be large. */
const maxSections = 50;

/** undefined: a stored event cannot be read. */
export async function writeNotifications(
  deps: NotificationMailDeps,
  gathered: readonly GatheredMessage[],
): Promise<WrittenMail | undefined> {
  const [first] = gathered;
  if (first === undefined) return undefined;
  const { organization_id: organizationId, target: address } = first;
  const base = deps.publicUrl();
  const { supportEmail, ...branding } = await deps.branding(organizationId);
  const groups = [
    ...Map.groupBy(gathered, (one) => JSON.stringify([one.part_id, one.trigger_name, one.event_type])).values(),
  ];
  const shown = groups.slice(0, maxSections);
  const events = await readEvents(
    deps.db,
    shown.flatMap((group) => group.at(-1)?.id ?? []),
  );
  const entries: MailEntry[] = [];
  for (const group of shown) {
    const [earliest, latest] = [group[0], group.at(-1)];
    const event = events.get(latest?.id ?? '');
    if (earliest === undefined || latest === undefined || event === undefined) return undefined;
    entries.push({
      ...{ triggerName: latest.trigger_name, event, eventAtMs: latest.event_at, firstAtMs: earliest.event_at },
      count: group.length,
      link: `${base}/notifications/${latest.id}`,
    });
  }
  const unsubscribeUrl = base + unsubscribeLink(deps.instanceKey, { organizationId, address });
  const others = { groups: groups.length - shown.length, count: groups.slice(maxSections).flat().length };
  return {
    ...notificationMail(entries, others, branding, unsubscribeUrl),
    fromName: branding.organizationName,
    ...(supportEmail !== '' && { replyTo: supportEmail }),
    headers: {
      'List-Unsubscribe': `<${unsubscribeUrl}>`,
      'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
      // Suppresses automatic answers, such as vacation replies (RFC 3834).
      'Auto-Submitted': 'auto-generated',
    },
  };
}

async function readEvents(db: OutboxDatabase, ids: readonly string[]): Promise<ReadonlyMap<string, TriggerEvent>> {
  const events = new Map<string, TriggerEvent>();
  for (const some of chunks(ids, 10)) {
    const rows = await db.selectFrom('outbox_messages').select(['id', 'event']).where('id', 'in', some).execute();
    for (const { id, event } of rows) {
      const read = eventOf(event);
      if (read !== undefined) events.set(id, read);
    }
  }
  return events;
}
