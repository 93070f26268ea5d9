/** The mail for one notification, or for several that are sent together: reads their events, and adds what all mails contain. */
import { chunks } from '@platform/base';
import type { InstanceKey } from '../../instance/instance-key.ts';
import type { GatheredMessage } from '../channel.ts';
import { eventOf, type TriggerEvent } from '../event.ts';
import { summaryOf } from '../in-words.ts';
import type { OutboxDatabase } from '../store.ts';
import { type DigestLine, digestMail } from './digest-mail.ts';
import type { MailContent } from './mail.ts';
import {
  type MailBranding,
  type MailEntry,
  type NotificationMail,
  notificationMail,
  oneLine,
} from './notification-mail.ts';
import { unsubscribeLink } from './unsubscribe.ts';

export interface Branding extends MailBranding {
  /** Address for replies; empty: the sender address of the installation. */
  readonly supportEmail: string;
}

export interface NotificationMailDeps {
  readonly db: OutboxDatabase;
  readonly instanceKey: Pick<InstanceKey, 'sign'>;
  readonly branding: (organizationId: string) => Promise<Branding>;
  /** The time zone, an IANA name, in which the organization's notifications to this address write times. */
  readonly zoneOf: (organizationId: string, address: string) => Promise<string>;
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

/** Events may be large: so many are in memory at a time. */
const eventsAtOnce = 10;

/** undefined: the stored event cannot be read. */
export async function writeNotifications(
  deps: NotificationMailDeps,
  gathered: readonly GatheredMessage[],
): Promise<WrittenMail | undefined> {
  const [first] = gathered;
  if (first === undefined) return undefined;
  const { organization_id: organizationId, target: address } = first;
  const base = deps.publicUrl();
  const { supportEmail, ...branding } = await deps.branding(organizationId);
  const zone = await deps.zoneOf(organizationId, address);
  const unsubscribeUrl = base + unsubscribeLink(deps.instanceKey, { organizationId, address });
  const mail =
    gathered.length === 1
      ? await single(deps.db, first, (entry) => notificationMail(entry, branding, unsubscribeUrl), base, zone)
      : digestMail(await linesOf(deps.db, gathered, base, zone), zone, branding, unsubscribeUrl);
  if (mail === undefined) return undefined;
  return {
    ...mail,
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

async function single(
  db: OutboxDatabase,
  { id, trigger_name: triggerName, event_at: eventAtMs }: GatheredMessage,
  write: (entry: MailEntry) => NotificationMail,
  base: string,
  zone: string,
): Promise<NotificationMail | undefined> {
  const event = (await readEvents(db, [id])).get(id);
  return event && write({ triggerName, event, eventAtMs, link: `${base}/notifications/${id}`, zone });
}

async function linesOf(
  db: OutboxDatabase,
  gathered: readonly GatheredMessage[],
  base: string,
  zone: string,
): Promise<readonly DigestLine[]> {
  const lines: DigestLine[] = [];
  for (const some of chunks(gathered, eventsAtOnce)) {
    const events = await readEvents(
      db,
      some.map(({ id }) => id),
    );
    for (const { id, trigger_name: triggerName, event_at: atMs } of some) {
      const event = events.get(id);
      const summary = event === undefined ? 'the stored event cannot be read' : oneLine(summaryOf(event, zone));
      const machineName = event?.place.robotName ?? '';
      lines.push({ atMs, summary, triggerName, machineName, link: `${base}/notifications/${id}` });
    }
  }
  return lines;
}

async function readEvents(db: OutboxDatabase, ids: readonly string[]): Promise<ReadonlyMap<string, TriggerEvent>> {
  const rows = await db.selectFrom('outbox_messages').select(['id', 'event']).where('id', 'in', ids).execute();
  return new Map(
    rows
      .flatMap(({ id, event }) => [[id, eventOf(event)] as const])
      .flatMap(([id, read]) => (read ? [[id, read]] : [])),
  );
}
