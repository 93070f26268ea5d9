/** The page around the content of an HTML mail. */
import { type Html, html } from '../../text-rules/html.ts';

export interface MailPage {
  readonly title: string;
  /** Name and logo of the sender. */
  readonly top: Html;
  readonly content: Html;
  /** Why the recipient gets the mail, and whom to ask. */
  readonly bottom: Html;
}

export function mailPage({ title, top, content, bottom }: MailPage): string {
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><title>${title}</title></head>
<body style="margin:0;padding:24px;background:#f4f5f7;color:#1a1d21;font:15px/1.5 system-ui,-apple-system,'Segoe UI',sans-serif"><div style="max-width:640px;margin:0 auto;background:#fff;border:1px solid #d5d9de;border-radius:10px;padding:24px">
<p style="margin:0 0 16px;color:#5f6670">${top}</p>
${content}
<p style="margin:24px 0 0;padding-top:12px;border-top:1px solid #d5d9de;color:#5f6670;font-size:13px">${bottom}</p>
</div></body></html>
`.html;
}
