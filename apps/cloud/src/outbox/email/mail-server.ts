/** Sends single mails to a mail server by SMTP. */
import { errorText, PlatformError } from '@platform/base';
import type { Transporter } from 'nodemailer';
import type { SendResult } from '../channel.ts';
import { redactTokens } from './redact-tokens.ts';
import type { WrittenMail } from './write-notifications.ts';

export interface MailSettings {
  /** Such as `smtps://name:password@mail.example.com`. */
  readonly smtpUrl: string;
  /** The sender, such as `Platform <platform@example.com>`. */
  readonly from: string;
}

/** Limit for each step. */
const timeoutMs = 20_000;

export interface OutgoingMail {
  readonly to: string;
  /** The local part of the Message-ID. */
  readonly messageId: string;
  readonly mail: WrittenMail;
}

export interface MailServer {
  send(mail: OutgoingMail, signal: AbortSignal): Promise<SendResult>;
  close(): void;
}

/** @param totalTimeoutMs for one mail */
export function createMailServer({ smtpUrl, from }: MailSettings, totalTimeoutMs = 60_000): MailServer {
  const sender = /^(.*?)<?([^\s<>]+@([\w.-]+))>?\s*$/.exec(from);
  const domain = sender?.[3] ?? 'platform';
  const timeouts = { connectionTimeout: timeoutMs, greetingTimeout: timeoutMs, socketTimeout: timeoutMs };
  let opened: Promise<Transporter> | undefined;
  // Loaded with the first message, because many installations send none.
  const open = (): Promise<Transporter> => {
    opened ??= import('nodemailer').then(({ createTransport }) =>
      createTransport({ url: smtpUrl, ...timeouts }, { from }),
    );
    return opened;
  };
  return {
    async send({ to, messageId, mail }, signal) {
      const transport = await open();
      const late = AbortSignal.timeout(totalTimeoutMs);
      const { fromName, attachments = [], ...content } = mail;
      try {
        await transport.sendMail({
          // The same at each attempt, so that a recipient can recognise duplicates.
          messageId: `<${messageId}@${domain}>`,
          // An address object is always one recipient; a string would be parsed as a list.
          to: { name: '', address: to },
          ...content,
          attachments: [...attachments],
          ...(fromName !== undefined && sender?.[2] !== undefined && { from: { name: fromName, address: sender[2] } }),
          ...{ disableFileAccess: true, disableUrlAccess: true },
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
    close: () => void opened?.then((transport) => transport.close()),
  };
}

/** Codes of the mail library for failures before a server can have taken the mail. */
const notTaken: ReadonlySet<string> = new Set(['EDNS', 'EAUTH', 'ETLS', 'EENVELOPE', 'ENOAUTH', 'EOAUTH2', 'ECONFIG']);

/** Final if the server permanently refused this recipient. Other problems, such as a wrong password or a full disk, may pass. */
function failure(caught: unknown, { text }: Pick<WrittenMail, 'text'>): SendResult {
  // Servers quote links that they reject.
  const error = redactTokens(errorText(caught), text);
  const { code, responseCode, syscall } = Object(caught) as { code?: string; responseCode?: number; syscall?: string };
  const wasRefused = responseCode !== undefined || syscall === 'connect' || notTaken.has(code ?? '');
  const isFinal = code === 'EENVELOPE' && responseCode !== undefined && responseCode >= 500;
  return {
    outcome: isFinal ? 'rejected' : 'retryLater',
    error,
    ...(responseCode !== undefined && { code: responseCode }),
    ...(!isFinal && !wasRefused && { mayBeTaken: true }),
  };
}
