/** Mails to people. They are sealed, because their links log people in, and enqueued in the transaction of the change that they report. */
import { type Clock, newId } from '@platform/base';
import type { InstanceKey } from '../../instance/instance-key.ts';
import { insertMessages } from '../enqueue.ts';
import type { Outbox } from '../feature.ts';
import { messageId } from '../message-id.ts';
import type { OutboxTransaction } from '../store.ts';

export interface MailContent {
  /** A single line. */
  readonly subject: string;
  readonly text: string;
  /** Absent: the mail is only text. */
  readonly html?: string;
  /** Name of the sender, before the address of the installation. */
  readonly fromName?: string;
  /** Address for replies. */
  readonly replyTo?: string;
  /** Id of an invoice whose PDF is attached. It is read at each attempt, and is not in the outbox. */
  readonly invoiceId?: string;
}

export interface MailMessage extends MailContent {
  /** A single address accepted by `checkedEmail`. */
  readonly to: string;
  /** Kind of the mail, for the record of deliveries. */
  readonly kind: 'invitation' | 'password_reset' | 'billing';
  /** Organization of the mail; if it is deleted, the mail is not sent. Absent: the mail concerns only the person. */
  readonly organizationId?: string;
  /** Within 30 days, only one mail is sent for the same cause. Absent: each call sends a mail. */
  readonly cause?: readonly string[];
}

export interface Mail {
  /** Joins a transaction; the mail is sent only if it commits. Call `wake` after the commit. */
  enqueue(trx: OutboxTransaction, message: MailMessage): Promise<void>;
  wake(): void;
}

export function createMail(deps: {
  readonly outbox: Pick<Outbox, 'wake'>;
  readonly instanceKey: Pick<InstanceKey, 'encrypt'>;
  readonly clock: Pick<Clock, 'now'>;
}): Mail {
  const { outbox, instanceKey, clock } = deps;
  return {
    async enqueue(trx, { to, kind, organizationId = '', cause, ...content }) {
      const nowMs = clock.now();
      const row = {
        id: messageId(cause ?? [newId()]),
        channel: 'email',
        organization_id: organizationId,
        part_id: '',
        target: to,
        application: null,
        trigger_name: '',
        event_type: kind,
        event: '',
        sealed: instanceKey.encrypt(JSON.stringify(content satisfies MailContent)),
        event_at: nowMs,
        urgency: 'now',
      } as const;
      await insertMessages(trx, [row], nowMs);
    },
    wake: () => outbox.wake(),
  };
}
