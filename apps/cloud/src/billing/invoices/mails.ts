/** Mails about invoices. Each has a cause, for which it is sent once, however often the event is repeated. */
import type { Transaction } from 'kysely';
import type { Mail } from '../../outbox/email/mail.ts';
import type { OutboxTables } from '../../outbox/store.ts';
import { currencyOf } from '../money/currency.ts';
import { textOfMinor } from '../money/wire-amount.ts';
import type { InvoiceDocument, InvoiceRow } from './issue-invoice.ts';

export interface InvoiceMail {
  /** Empty: no recipient. */
  readonly to: string;
  readonly organizationId: string;
  readonly cause: readonly string[];
  readonly subject: string;
  readonly text: string;
}

export interface InvoiceMails {
  enqueue(trx: Transaction<OutboxTables>, mail: InvoiceMail): Promise<void>;
  wake(): void;
}

type Kind = 'issued' | 'paid' | 'failed';

const subjects: Readonly<Record<Kind, (number: string) => string>> = {
  issued: (number) => `Invoice ${number}`,
  paid: (number) => `Payment received for invoice ${number}`,
  failed: (number) => `Payment failed for invoice ${number}`,
};

/** @param cause what the mail concerns besides the invoice, such as the id of a charge */
export function mailAbout(kind: Kind, invoice: InvoiceRow, cause: string, failure = ''): InvoiceMail {
  const { description }: InvoiceDocument = JSON.parse(invoice.document);
  const total = amountOf(invoice, invoice.total);
  const said: Readonly<Record<Kind, string>> = {
    issued: `Invoice ${invoice.number} for ${total} has been issued. It is due on ${dayOf(invoice.due_ms)}.`,
    paid: `Thank you. Invoice ${invoice.number} for ${total} is paid.`,
    failed: `The payment of invoice ${invoice.number} for ${total} failed: ${failure}.`,
  };
  return letter(invoice, [kind, cause], subjects[kind](invoice.number), [
    said[kind],
    ...(description === '' ? [] : ['', description]),
  ]);
}

/**
 * A reminder for an overdue invoice.
 *
 * @param step 1, 2, …: each is mailed once.
 * @param to absent: the address at the time of issue; empty: no recipient
 */
export function reminderAbout(invoice: InvoiceRow, step: number, isLast: boolean, to: string | undefined): InvoiceMail {
  const { issuer }: InvoiceDocument = JSON.parse(invoice.document);
  const { number, total, paid } = invoice;
  const subject = `${isLast ? 'Last reminder' : 'Reminder'}: invoice ${number}`;
  const mail = letter(invoice, ['reminder', String(step)], subject, [
    `Invoice ${number} for ${amountOf(invoice, total)} was due on ${dayOf(invoice.due_ms)} and is not paid.`,
    ...(paid === 0 ? [] : [`${amountOf(invoice, total - paid)} remains to be paid.`]),
    ...(isLast ? ['This is the last reminder.'] : []),
    ...(issuer === undefined || issuer.payment === '' ? [] : ['', issuer.payment]),
  ]);
  return { ...mail, to: to ?? mail.to };
}

/** @param cause besides the invoice @param lines between the test notice and the sender's name */
function letter(invoice: InvoiceRow, cause: readonly string[], subject: string, lines: readonly string[]): InvoiceMail {
  const { branding, supportEmail, billingEmail }: InvoiceDocument = JSON.parse(invoice.document);
  const isTest = invoice.is_test === 1;
  return {
    to: billingEmail,
    organizationId: invoice.organization_id,
    cause: ['invoice', invoice.id, ...cause],
    subject: isTest ? `TEST: ${subject}` : subject,
    text: [
      ...(isTest ? ['This is a test. No payment is due.', ''] : []),
      ...lines,
      ...['', branding],
      ...(supportEmail === '' ? [] : [supportEmail]),
    ].join('\n'),
  };
}

function amountOf({ currency }: InvoiceRow, minor: number): string {
  return `${textOfMinor(BigInt(minor), currencyOf(currency, 'currency'))} ${currency}`;
}

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** @param mail undefined: there is no mail server, and nothing is mailed */
export function createInvoiceMails(mail: Mail | undefined): InvoiceMails {
  return {
    async enqueue(trx, { to, organizationId, cause, subject, text }) {
      if (to !== '') await mail?.enqueue(trx, { to, kind: 'billing', organizationId, cause, subject, text });
    },
    wake: () => mail?.wake(),
  };
}
