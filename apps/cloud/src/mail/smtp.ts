/** One message to the mail server. */
import { errorText } from '@platform/base';
import type { Transporter } from 'nodemailer';
import type { MailMessage, MailSettings } from './feature.ts';

export type SendResult =
  | { readonly outcome: 'accepted' }
  | { readonly outcome: 'rejected' | 'retryLater'; readonly error: string };

export interface Smtp {
  send(message: MailMessage, signal: AbortSignal): Promise<SendResult>;
  close(): void;
}

const timeoutMs = 20_000;

export function createSmtp({ smtpUrl, from }: MailSettings): Smtp {
  const timeouts = { connectionTimeout: timeoutMs, greetingTimeout: timeoutMs, socketTimeout: timeoutMs };
  let opened: Promise<Transporter> | undefined;
  // Loaded with the first message: many installations send none.
  const open = (): Promise<Transporter> => {
    opened ??= import('nodemailer').then(({ createTransport }) =>
      createTransport({ url: smtpUrl, ...timeouts }, { from }),
    );
    return opened;
  };
  const close = async (): Promise<void> => (await opened)?.close();
  return {
    async send({ to, subject, text }, signal) {
      const transport = await open();
      const stop = (): void => transport.close();
      signal.addEventListener('abort', stop, { once: true });
      try {
        // An address object is one recipient, whatever stands in it; a string would be parsed as a list.
        await transport.sendMail({
          to: { name: '', address: to },
          subject,
          text,
          disableFileAccess: true,
          disableUrlAccess: true,
        });
        return { outcome: 'accepted' };
      } catch (caught) {
        return { outcome: isFinal(caught) ? 'rejected' : 'retryLater', error: errorText(caught) };
      } finally {
        signal.removeEventListener('abort', stop);
      }
    },
    close: () => void close(),
  };
}

/** The server refused this recipient for good; a wrong password of ours or a full disk of its will pass. */
function isFinal(caught: unknown): boolean {
  if (!(caught instanceof Error)) return false;
  const { code, responseCode } = caught as Error & { code?: string; responseCode?: number };
  return code === 'EENVELOPE' && responseCode !== undefined && responseCode >= 500;
}
