/** E-mail as a channel of the outbox: each message is sent to the mail server, and retried with growing waits for a day. */
import { backoffMs, errorText, PlatformError } from '@platform/base';
import type { Transporter } from 'nodemailer';
import type { InstanceKey } from '../../instance/instance-key.ts';
import type { Channel, SendResult } from '../channel.ts';
import type { OutboxMessageRow } from '../store.ts';
import type { MailContent } from './mail.ts';
import { redactTokens } from './redact-tokens.ts';

export interface MailSettings {
  /** Such as `smtps://name:password@mail.example.com`. */
  readonly smtpUrl: string;
  /** The sender, such as `Platform <platform@example.com>`. */
  readonly from: string;
}

export interface EmailChannelDeps {
  readonly settings: MailSettings;
  readonly instanceKey: Pick<InstanceKey, 'decrypt'>;
  /** Limit for one mail, so that a server that answers each step just in time does not hold a place for ever. Default 60,000 ms. */
  readonly totalTimeoutMs?: number;
}

/** Limit for each step. */
const timeoutMs = 20_000;
const giveUpMs = 86_400_000;
const longestWaitMs = 3_600_000;

export function createEmailChannel({ settings, instanceKey, totalTimeoutMs = 60_000 }: EmailChannelDeps): Channel {
  const { smtpUrl, from } = settings;
  const domain = /@([\w.-]+)>?\s*$/.exec(from)?.[1] ?? 'platform';
  const timeouts = { connectionTimeout: timeoutMs, greetingTimeout: timeoutMs, socketTimeout: timeoutMs };
  let opened: Promise<Transporter> | undefined;
  // Loaded with the first message, because many installations send none.
  const open = (): Promise<Transporter> => {
    opened ??= import('nodemailer').then(({ createTransport }) =>
      createTransport({ url: smtpUrl, ...timeouts }, { from }),
    );
    return opened;
  };
  const close = async (): Promise<void> => (await opened)?.close();

  return {
    // All messages go to one server. Those to one person arrive in the order in which they were enqueued.
    maxInFlight: 4,
    maxPerTarget: 1,
    async send(message, signal) {
      const content = readContent(message, instanceKey);
      if (content === undefined) return { outcome: 'rejected', error: 'the stored mail cannot be read' };
      const transport = await open();
      const late = AbortSignal.timeout(totalTimeoutMs);
      try {
        // An address object is always one recipient; a string would be parsed as a list.
        const to = { name: '', address: message.target };
        await transport.sendMail({
          // The same at each attempt, so that a recipient can recognise duplicates.
          messageId: `<${message.id}@${domain}>`,
          ...{ to, ...content, disableFileAccess: true, disableUrlAccess: true },
          signal: AbortSignal.any([signal, late]),
        });
        return { outcome: 'accepted' };
      } catch (caught) {
        signal.throwIfAborted();
        if (!late.aborted) return failure(caught, content);
        const reason = `expected the mail server to accept the mail within ${totalTimeoutMs / 1_000} s, found it still busy`;
        return failure(new PlatformError('deadline_exceeded', reason), content);
      }
    },
    waitMs: ({ attempts, ageMs }) =>
      ageMs > giveUpMs ? undefined : Math.round(backoffMs(attempts, { firstMs: 5_000, maxMs: longestWaitMs })),
    [Symbol.dispose]: () => void close(),
  };
}

/** undefined: the content cannot be decrypted, which is as final as a refusal. */
function readContent({ sealed }: OutboxMessageRow, key: Pick<InstanceKey, 'decrypt'>): MailContent | undefined {
  if (sealed === null) return undefined;
  try {
    const { subject, text } = JSON.parse(key.decrypt(sealed));
    return { subject, text };
  } catch {
    return undefined;
  }
}

/** Final if the server permanently refused this recipient. Other problems, such as a wrong password or a full disk, may pass. */
function failure(caught: unknown, { text }: MailContent): SendResult {
  // Servers quote links that they reject.
  const error = redactTokens(errorText(caught), text);
  const { code, responseCode } = Object(caught) as { code?: string; responseCode?: number };
  const isFinal = code === 'EENVELOPE' && responseCode !== undefined && responseCode >= 500;
  return {
    outcome: isFinal ? 'rejected' : 'retryLater',
    error,
    ...(responseCode !== undefined && { code: responseCode }),
  };
}
