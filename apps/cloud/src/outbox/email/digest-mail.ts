/** Writes the mail that lists several notifications, one line each. Pure. */
import { html } from '../../text-rules/html.ts';
import { nameInText, timeInText } from '../in-words.ts';
import { mailPage } from './mail-page.ts';
import { type MailBranding, type NotificationMail, oneLine, whyText } from './notification-mail.ts';

export interface DigestLine {
  readonly atMs: number;
  /** What happened, in one line. */
  readonly summary: string;
  readonly triggerName: string;
  readonly machineName: string;
  /** Link to the page that shows it. */
  readonly link: string;
}

/** @param lines in the order in which they happened. @param zone time zone of the recipient, an IANA name */
export function digestMail(
  lines: readonly DigestLine[],
  zone: string,
  { organizationName, logoUrl }: MailBranding,
  unsubscribeUrl: string,
): NotificationMail {
  const subject = oneLine(`${lines.length} notifications from ${sourcesOf(lines)}`);
  const why = whyText(organizationName);
  const body = mailPage({
    title: subject,
    top: html`${logoUrl !== '' && html`<img src="${logoUrl}" alt="" height="32" style="vertical-align:middle;margin-right:10px">`}<strong>${organizationName}</strong>`,
    content: html`<h1 style="font-size:19px;margin:0 0 8px">${subject}</h1>
<table style="border-collapse:collapse;font-size:14px">${lines.map(
      (line) =>
        html`<tr><td style="vertical-align:top;padding:3px 16px 3px 0;color:#5f6670;white-space:nowrap">${timeInText(line.atMs, zone)}</td><td style="padding:3px 0;overflow-wrap:anywhere"><a href="${line.link}" style="color:#1f5fd0">${line.summary}</a> <span style="color:#5f6670">${nameInText(line.triggerName)}</span></td></tr>
`,
    )}</table>`,
    bottom: html`${why} <a href="${unsubscribeUrl}" style="color:#5f6670">Stop these mails</a>`,
  });
  const text = [
    subject,
    '',
    ...lines.flatMap(({ atMs, summary, triggerName, link }) => [
      `${timeInText(atMs, zone)}  ${summary}  [${nameInText(triggerName)}]`,
      `  ${link}`,
    ]),
    '',
    `--\n${why}\nStop these mails: ${unsubscribeUrl}\n`,
  ].join('\n');
  return { subject, text, html: body };
}

function sourcesOf(lines: readonly DigestLine[]): string {
  const [first, ...others] = new Set(lines.map(({ machineName }) => machineName));
  return others.length === 0 ? nameInText(first ?? '') : `${others.length + 1} machines`;
}
