/** Writes the mail for one or more notifications: subject, text and HTML. Pure. */
import { type Html, html } from '../../text-rules/html.ts';
import { type Fact, factsOf, readingText, summaryOf } from '../describe-event.ts';
import type { TriggerEvent } from '../event.ts';
import { mailPage } from './mail-page.ts';

/** Some notifications of one trigger of one part. */
export interface MailEntry {
  readonly triggerName: string;
  /** The last of them. */
  readonly event: TriggerEvent;
  readonly eventAtMs: number;
  /** When the first of them happened. */
  readonly firstAtMs: number;
  readonly count: number;
  /** Link to the page that shows it. */
  readonly link: string;
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

/** @param others notifications of other triggers, which are only counted */
export function notificationMail(
  entries: readonly MailEntry[],
  others: { readonly groups: number; readonly count: number },
  { organizationName, logoUrl }: MailBranding,
  unsubscribeUrl: string,
): NotificationMail {
  const count = entries.reduce((sum, entry) => sum + entry.count, others.count);
  const [first] = entries;
  const subject =
    count === 1 && first !== undefined ? subjectOf(first) : `${count} notifications from ${sourcesOf(entries)}`;
  const more = others.count > 0 && `There are ${others.count} more notifications from ${others.groups} other triggers.`;
  const why = `You get this mail because a trigger of ${organizationName} notifies this address.`;
  const body = mailPage({
    title: subject,
    top: html`${logoUrl !== '' && html`<img src="${logoUrl}" alt="" height="32" style="vertical-align:middle;margin-right:10px">`}<strong>${organizationName}</strong>`,
    content: html`${count > 1 && html`<h1 style="font-size:19px;margin:0 0 8px">${subject}</h1>`}
${entries.map((entry) => sectionOf(entry))}
${more !== false && html`<p>${more}</p>`}`,
    bottom: html`${why} <a href="${unsubscribeUrl}" style="color:#5f6670">Stop these mails</a>`,
  });
  const text = [
    ...entries.map(textOf),
    ...(more === false ? [] : [`${more}\n`]),
    `--\n${why}\nStop these mails: ${unsubscribeUrl}\n`,
  ].join('\n');
  return { subject: oneLine(subject), text, html: body };
}

/** The section of the mail about one trigger, with the subject that it would have alone. */
export function mailText(entry: MailEntry): Pick<NotificationMail, 'subject' | 'text'> {
  return { subject: oneLine(subjectOf(entry)), text: textOf(entry) };
}

function subjectOf({ triggerName, event }: MailEntry): string {
  return `${triggerName}: ${summaryOf(event)}`;
}

function sourcesOf(entries: readonly MailEntry[]): string {
  const machines = [...new Set(entries.map(({ event }) => event.place.robotName))];
  return machines.length === 1 ? `${machines[0]}` : `${machines.length} machines`;
}

function factsOfEntry({ triggerName, event, eventAtMs, firstAtMs, count }: MailEntry): Fact[] {
  const at = new Date(eventAtMs).toISOString();
  const when: Fact[] =
    count === 1
      ? [['Time', at]]
      : [
          ['Notifications', `${count}`],
          ['First', new Date(firstAtMs).toISOString()],
          ['Last', at],
        ];
  return [['Trigger', triggerName], ...when, ...factsOf(event)];
}

function sectionOf(entry: MailEntry): Html {
  const reading = readingText(entry.event);
  return html`<h2 style="font-size:17px;margin:16px 0 8px">${subjectOf(entry)}</h2>
<table style="border-collapse:collapse;font-size:14px">${factsOfEntry(entry).map(
    ([name, value]) =>
      html`<tr><th style="text-align:left;vertical-align:top;padding:3px 16px 3px 0;color:#5f6670;font-weight:500;white-space:nowrap">${name}</th><td style="padding:3px 0;overflow-wrap:anywhere">${value}</td></tr>`,
  )}</table>
${reading !== '' && html`<pre style="background:#f4f5f7;border-radius:6px;padding:12px;font:13px/1.4 ui-monospace,monospace;white-space:pre-wrap;overflow-wrap:anywhere">${reading}</pre>`}
<p style="margin:12px 0"><a href="${entry.link}" style="color:#1f5fd0">Show it</a></p>
`;
}

function textOf(entry: MailEntry): string {
  const reading = readingText(entry.event);
  const lines = [
    subjectOf(entry),
    '',
    ...factsOfEntry(entry).map(([name, value]) => `${name}: ${value}`),
    ...(reading === '' ? [] : ['', reading]),
    '',
    `Show it: ${entry.link}`,
    '',
  ];
  return lines.join('\n');
}

/** Names may contain line breaks, which must not start new headers. */
function oneLine(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim()
    .slice(0, 200);
}
