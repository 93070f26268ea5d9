/** E-mail as a channel of the outbox: each message is sent to the mail server, and retried with increasing delays for a day. */
import { backoffMs, type Clock } from '@platform/base';
import type { InstanceKey } from '../../instance/instance-key.ts';
import type { Channel, GatheredMessage } from '../channel.ts';
import { allMachineOwners } from '../enqueue.ts';
import type { OutboxMessageRow } from '../store.ts';
import { gatherMails } from './gather-mails.ts';
import type { MailContent } from './mail.ts';
import { createMailServer, type MailSettings, type OutgoingMail } from './mail-server.ts';
import { unsubscribedAt } from './unsubscribe.ts';
import {
  type Attachment,
  type NotificationMailDeps,
  type WrittenMail,
  writeNotifications,
} from './write-notifications.ts';

export interface EmailChannelDeps extends Omit<NotificationMailDeps, 'instanceKey'> {
  /** Absent: there is no mail server. Notifications then go to the test inbox, and all other mails wait. */
  readonly settings: MailSettings | undefined;
  readonly instanceKey: Pick<InstanceKey, 'decrypt' | 'sign'>;
  readonly clock: Pick<Clock, 'now'>;
  /** The PDF of an invoice of an organization. @throws if it cannot be made now; the mail is then tried again */
  readonly invoicePdf: (organizationId: string, invoiceId: string) => Promise<Attachment>;
  /** Keeps a mail in the test inbox. */
  readonly keep: (mail: KeptMail) => void;
  /** Limit for one mail, so that a server that answers each step just in time does not occupy a slot forever. Default 60,000 ms. */
  readonly totalTimeoutMs?: number;
}

/** A notification in the test inbox. */
export interface KeptMail extends OutgoingMail {
  readonly organizationId: string;
}

const giveUpMs = 86_400_000;
const longestWaitMs = 3_600_000;
export const noServer =
  'no mail server is configured; set PLATFORM_SMTP_URL and PLATFORM_MAIL_FROM in the environment of the cloud';

export function createEmailChannel(deps: EmailChannelDeps): Channel {
  const { settings, db, instanceKey, clock, keep, invoicePdf } = deps;
  const server = settings && createMailServer(settings, deps.totalTimeoutMs);

  /** A mail whose text is stored. */
  const written = async (message: OutboxMessageRow): Promise<WrittenMail | string> => {
    const content = readContent(message, instanceKey);
    if (content === undefined) return 'the stored mail cannot be read';
    const { invoiceId, ...mail } = content;
    if (invoiceId === undefined) return mail;
    return { ...mail, attachments: [await invoicePdf(message.organization_id, invoiceId)] };
  };
  /** Returns a string if there is nothing to send: the reason. */
  const write = async (
    message: OutboxMessageRow,
    gathered: readonly GatheredMessage[],
  ): Promise<WrittenMail | string> => {
    if (message.event === '') return await written(message);
    const { organization_id: organizationId, target: address } = message;
    if (address === allMachineOwners)
      return 'expected at least one person who owns the machine, its location or its organization, found none with an e-mail address';
    const at = await unsubscribedAt(db, { organizationId, address });
    if (at !== undefined)
      return `${address} has unsubscribed from the notifications of this organization, on ${new Date(at).toISOString()}; only the recipient can undo that, with the link in any of these mails`;
    return (await writeNotifications(deps, gathered)) ?? 'the stored event cannot be read';
  };

  return {
    // All messages go to one server. Those to one person arrive in the order in which they were enqueued.
    maxInFlight: 4,
    maxPerTarget: 1,
    onlyEvents: server === undefined,
    // What is kept uses up no allowance (D45).
    ...(server && { gather: (message: OutboxMessageRow) => gatherMails(db, message, clock.now()) }),
    async send(message, signal, gathered) {
      const mail = await write(message, gathered);
      if (typeof mail === 'string') return { outcome: 'rejected', error: mail };
      const messageId = gathered[0]?.digest ?? message.id;
      const to = message.target;
      if (server !== undefined) return server.send({ to, messageId, mail }, signal);
      keep({ organizationId: message.organization_id, to, messageId, mail });
      return { outcome: 'accepted', kept: noServer, response: `kept in the test inbox: ${noServer}` };
    },
    waitMs: ({ attempts, ageMs }) =>
      ageMs > giveUpMs ? undefined : Math.round(backoffMs(attempts, { firstMs: 5_000, maxMs: longestWaitMs })),
    [Symbol.dispose]: () => server?.close(),
  };
}

/** undefined: the content cannot be decrypted; this is as final as a refusal. */
function readContent({ sealed }: OutboxMessageRow, key: Pick<InstanceKey, 'decrypt'>): MailContent | undefined {
  if (sealed === null) return undefined;
  try {
    return JSON.parse(key.decrypt(sealed));
  } catch {
    return undefined;
  }
}
