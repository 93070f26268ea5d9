/** Writes a mail about an invoice, as text and as HTML: what happened, who bills whom for what, and the tax. Pure. */
import { mailPage } from '../../outbox/email/mail-page.ts';
import { html } from '../../text-rules/html.ts';
import { type InvoiceContent, type Row, testNotice } from '../pdf/invoice-content.ts';

/** Further lines are only in the PDF. */
const maxRows = 100;

/** @param said what happened, in sentences @param payment how to pay; empty: not said */
export function invoiceMail(
  content: InvoiceContent,
  said: readonly string[],
  payment: string,
): { readonly text: string; readonly html: string } {
  const { isTest, title, branding, from, to, description, rows, currency, totals, support } = content;
  const notice = isTest ? testNotice : '';
  const shown = rows.slice(0, maxRows);
  const more = rows.length > maxRows ? `${rows.length - maxRows} further lines are in the attached PDF.` : '';
  const facts = content.facts.map(([name, value]) => `${name}: ${value}`);
  const paragraphs: readonly string[][] = [
    [notice],
    [...said],
    [description],
    [`From: ${from.join(', ')}`, `To: ${to.join(', ')}`, ...facts],
    [...shown.map((row) => `${lineOf(row)}: ${row[3]} ${currency}`), more],
    totals.map(([name, amount]) => `${name}: ${amount} ${currency}`),
    [payment],
    ['The invoice is attached as a PDF.'],
    [branding, support],
  ];
  const text = paragraphs
    .map((lines) => lines.filter((line) => line !== '').join('\n'))
    .filter((paragraph) => paragraph !== '')
    .join('\n\n');
  const body = html`${notice !== '' && html`<p style="color:#b3261e;font-weight:600">${notice}</p>`}
<h1 style="font-size:19px;margin:0 0 8px">${title}</h1>
${said.map((sentence) => html`<p style="margin:0 0 8px">${sentence}</p>`)}
${description !== '' && html`<p style="margin:0 0 8px">${description}</p>`}
<table role="presentation" style="border-collapse:collapse;font-size:14px;margin:16px 0"><tr><td style="vertical-align:top;padding:0 32px 0 0"><strong>From</strong>${from.map((line) => html`<br>${line}`)}</td><td style="vertical-align:top"><strong>To</strong>${to.map((line) => html`<br>${line}`)}</td></tr></table>
<p style="margin:0 0 8px;color:#5f6670;font-size:14px">${facts.map((fact, at) => html`${at > 0 && html`<br>`}${fact}`)}</p>
<table style="border-collapse:collapse;font-size:14px;width:100%">
<tr><th scope="col" style="${head};text-align:left">Description</th><th scope="col" style="${head};text-align:right">Amount (${currency})</th></tr>
${shown.map(
  (
    row,
  ) => html`<tr><td style="${cell};overflow-wrap:anywhere">${row[0]}${detailOf(row) !== '' && html`<br><span style="color:#5f6670;font-size:13px">${detailOf(row)}</span>`}</td><td style="${cell};text-align:right;vertical-align:top;white-space:nowrap">${row[3]}</td></tr>
`,
)}${totals.map(
  (
    [name, amount],
    at,
  ) => html`<tr><td style="${at === totals.length - 1 ? sum : total}">${name}</td><td style="${at === totals.length - 1 ? sum : total};white-space:nowrap">${amount}</td></tr>
`,
)}</table>
${more !== '' && html`<p>${more}</p>`}
${payment !== '' && html`<p style="white-space:pre-line;margin:16px 0 0">${payment}</p>`}
<p style="margin:16px 0 0">The invoice is attached as a PDF.</p>`;
  return {
    text: `${text}\n`,
    html: mailPage({ title, top: html`<strong>${branding}</strong>`, content: body, bottom: html`${support}` }),
  };
}

const cell = 'padding:6px 0;border-bottom:1px solid #d5d9de';
const head = `${cell};color:#5f6670;font-weight:500`;
const total = 'padding:3px 0;text-align:right';
const sum = `${total};font-weight:600`;

/** Such as "Uploads (12.5 GB × 0.15)". */
function lineOf(row: Row): string {
  const detail = detailOf(row);
  return detail === '' ? row[0] : `${row[0]} (${detail})`;
}

function detailOf([, quantity, unitPrice]: Row): string {
  return [quantity, unitPrice].filter((part) => part !== '').join(' × ');
}
