/** Writes the mail for one notification: subject, text and HTML. Pure. */
import { html } from '../../text-rules/html.ts';
import { type Fact, factsOf, readingText } from '../describe-event.ts';
import type { TriggerEvent } from '../event.ts';
import { summaryOf, timeInText } from '../in-words.ts';
import { mailPage } from './mail-page.ts';

export interface MailEntry {
  readonly triggerName: string;
  readonly event: TriggerEvent;
  readonly eventAtMs: number;
  /** Link to the page that shows it. */
  readonly link: string;
  /** Time zone of the recipient, an IANA name. */
  readonly zone: string;
}

export interface MailBranding {
  readonly organizationName: string;
  /** Empty: no logo. */
  readonly logoUrl: string;
}

export interface NotificationMail {
  /** A single line. */
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

export function notificationMail(
  entry: MailEntry,
  { organizationName, logoUrl }: MailBranding,
  unsubscribeUrl: string,
): NotificationMail {
  const { subject, text } = mailText(entry);
  const reading = readingText(entry.event, entry.zone);
  const why = whyText(organizationName);
  const body = mailPage({
    title: subject,
    top: html`${logoUrl !== '' && html`<img src="${logoUrl}" alt="" height="32" style="vertical-align:middle;margin-right:10px">`}<strong>${organizationName}</strong>`,
    content: html`<h2 style="font-size:17px;margin:16px 0 8px">${subject}</h2>
<table style="border-collapse:collapse;font-size:14px">${factsOfEntry(entry).map(
      ([name, value]) =>
        html`<tr><th style="text-align:left;vertical-align:top;padding:3px 16px 3px 0;color:#5f6670;font-weight:500;white-space:nowrap">${name}</th><td style="padding:3px 0;overflow-wrap:anywhere">${value}</td></tr>`,
    )}</table>
${reading !== '' && html`<pre style="background:#f4f5f7;border-radius:6px;padding:12px;font:13px/1.4 ui-monospace,monospace;white-space:pre-wrap;overflow-wrap:anywhere">${reading}</pre>`}
<p style="margin:12px 0"><a href="${entry.link}" style="color:#1f5fd0">Show it</a></p>`,
    bottom: html`${why} <a href="${unsubscribeUrl}" style="color:#5f6670">Stop these mails</a>`,
  });
  return { subject, text: `${text}\n--\n${why}\nStop these mails: ${unsubscribeUrl}\n`, html: body };
}

/** Its subject, and its text without the lines that all mails have. */
export function mailText(entry: MailEntry): Pick<NotificationMail, 'subject' | 'text'> {
  const subject = oneLine(summaryOf(entry.event, entry.zone));
  const reading = readingText(entry.event, entry.zone);
  const lines = [
    subject,
    '',
    ...factsOfEntry(entry).map(([name, value]) => `${name}: ${value}`),
    ...(reading === '' ? [] : ['', reading]),
    '',
    `Show it: ${entry.link}`,
    '',
  ];
  return { subject, text: lines.join('\n') };
}

/** Why the recipient gets the mail. */
export function whyText(organizationName: string): string {
  return `You get this mail because a trigger of ${organizationName} notifies this address.`;
}

function factsOfEntry({ triggerName, event, eventAtMs, zone }: MailEntry): Fact[] {
  return [['Trigger', triggerName], ['Time', timeInText(eventAtMs, zone)], ...factsOf(event, zone)];
}

/** Names may contain line breaks, which must not start new headers. */
export function oneLine(text: string): string {
  const line = text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim();
  const characters = [...line];
  return characters.length <= maxSubject ? line : `${characters.slice(0, maxSubject - 1).join('')}…`;
}

const maxSubject = 200;
