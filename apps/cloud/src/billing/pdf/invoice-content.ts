/** The content of an invoice's PDF, as text. */
import type { InvoiceDocument, InvoiceRow } from '../invoices/issue-invoice.ts';
import { currencyOf } from '../money/currency.ts';
import { textOfMinor } from '../money/wire-amount.ts';

export interface InvoiceContent {
  readonly title: string;
  /** Organization whose name and logo are at the top. */
  readonly branding: string;
  readonly isTest: boolean;
  readonly from: readonly string[];
  readonly to: readonly string[];
  readonly facts: readonly (readonly [name: string, value: string])[];
  readonly description: string;
  readonly head: Row;
  readonly rows: readonly Row[];
  /** ISO 4217, of all amounts. */
  readonly currency: string;
  /** The last one is the sum. */
  readonly totals: readonly (readonly [name: string, value: string])[];
  /** Empty: no payment is due. */
  readonly payment: readonly string[];
  readonly support: string;
}

export const testNotice = 'This is a test. No payment is due.';

export type Row = readonly [text: string, quantity: string, unitPrice: string, amount: string];

export function invoiceContent(invoice: InvoiceRow): InvoiceContent {
  const document: InvoiceDocument = JSON.parse(invoice.document);
  const currency = currencyOf(invoice.currency, 'currency');
  const amount = (minor: number): string => textOfMinor(BigInt(minor), currency);
  const isNote = invoice.kind === 'credit_note';
  const total = `${amount(invoice.total)} ${currency.code}`;
  const isOwed = !isNote && invoice.total > 0;
  const { issuer } = document;
  const tax = issuer.taxPercent === undefined ? 'Tax' : `Tax (${issuer.taxPercent} %)`;
  return {
    title: `${isNote ? 'Credit note' : 'Invoice'} ${invoice.number}`,
    branding: document.branding,
    isTest: invoice.is_test === 1,
    from: [document.biller, ...issuer.address],
    to: [document.customer, ...(document.billingEmail === '' ? [] : [document.billingEmail])],
    facts: [
      ['Number', invoice.number],
      ['Date', dayOf(invoice.issued_ms)],
      ...(isOwed ? [['Due', dayOf(invoice.due_ms)] as const] : []),
      ...(invoice.period === ''
        ? []
        : [['Period', invoice.period.replace('year:', 'year from ').replace('advance:', 'in advance, ')] as const]),
    ],
    description: document.lines.some(({ text }) => text === document.description) ? '' : document.description,
    head: ['Description', 'Quantity', 'Unit price', `Amount (${currency.code})`],
    rows: document.lines.map(({ text, quantity, unit, unitPrice, minor }) => [
      text,
      [quantity, unit].filter((part) => part !== '').join(' '),
      unitPrice,
      amount(minor),
    ]),
    currency: currency.code,
    totals: [
      ['Subtotal', amount(invoice.subtotal)],
      [tax, amount(invoice.tax)],
      ['Total', amount(invoice.total)],
    ],
    payment: isOwed
      ? [
          ...(invoice.is_test === 1 ? [testNotice] : []),
          ...(document.isCharged === true
            ? [
                `The attached card will be charged ${total} on ${dayOf(invoice.issued_ms)}. No transfer is needed, unless this payment fails.`,
              ]
            : [
                `Please pay ${total} by ${dayOf(invoice.due_ms)}. Reference: ${invoice.number}.`,
                ...(issuer.payment === '' ? [] : [issuer.payment]),
              ]),
        ]
      : [],
    support: document.supportEmail === '' ? '' : `Questions: ${document.supportEmail}`,
  };
}

export function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
