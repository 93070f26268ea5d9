/** Mails about invoices. Each has a cause, for which it is sent once, however often the event is repeated. */
import type { Mail, MailContent } from '../../outbox/email/mail.ts';
import type { OutboxTransaction } from '../../outbox/store.ts';
import { currencyOf } from '../money/currency.ts';
import { textOfMinor } from '../money/wire-amount.ts';
import { dayOf, invoiceContent, testNotice } from '../pdf/invoice-content.ts';
import { invoiceMail } from './invoice-mail.ts';
import type { InvoiceDocument, InvoiceRow } from './issue-invoice.ts';

export interface InvoiceMail extends MailContent {
  /** Empty: no recipient. */
  readonly to: string;
  readonly organizationId: string;
  readonly cause: readonly string[];
}

export interface InvoiceMails {
  enqueue(trx: OutboxTransaction, mail: InvoiceMail): Promise<void>;
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
  const total = amountOf(invoice, invoice.total);
  const { isCharged }: InvoiceDocument = JSON.parse(invoice.document);
  const due = isCharged === true ? '' : ` It is due on ${dayOf(invoice.due_ms)}.`;
  const said: Readonly<Record<Kind, string>> = {
    issued: `Invoice ${invoice.number} for ${total} has been issued.${due}`,
    paid: `Thank you. Invoice ${invoice.number} for ${total} is paid.`,
    failed: `The payment of invoice ${invoice.number} for ${total} failed: ${failure}.`,
  };
  const payment = kind === 'issued' ? invoiceContent(invoice).payment.filter((line) => line !== testNotice) : [];
  return letter(invoice, [kind, cause], subjects[kind](invoice.number), [said[kind]], payment.join('\n'));
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
  const said = [
    `Invoice ${number} for ${amountOf(invoice, total)} was due on ${dayOf(invoice.due_ms)} and is not paid.`,
    ...(paid === 0 ? [] : [`${amountOf(invoice, total - paid)} remains to be paid.`]),
    ...(isLast ? ['This is the last reminder.'] : []),
  ];
  const mail = letter(invoice, ['reminder', String(step)], subject, said, issuer.payment);
  return { ...mail, to: to ?? mail.to };
}

/** @param cause besides the invoice @param said what happened @param payment how to pay; empty: not said */
function letter(
  invoice: InvoiceRow,
  cause: readonly string[],
  subject: string,
  said: readonly string[],
  payment: string,
): InvoiceMail {
  const { branding, supportEmail, billingEmail }: InvoiceDocument = JSON.parse(invoice.document);
  const isTest = invoice.is_test === 1;
  return {
    to: billingEmail,
    organizationId: invoice.organization_id,
    cause: ['invoice', invoice.id, ...cause],
    subject: isTest ? `TEST: ${subject}` : subject,
    ...invoiceMail(invoiceContent(invoice), said, payment),
    fromName: branding,
    ...(supportEmail !== '' && { replyTo: supportEmail }),
    invoiceId: invoice.id,
  };
}

function amountOf({ currency }: InvoiceRow, minor: number): string {
  return `${textOfMinor(BigInt(minor), currencyOf(currency, 'currency'))} ${currency}`;
}

/** @param mail undefined: there is no mail server, and nothing is mailed */
export function createInvoiceMails(mail: Mail | undefined): InvoiceMails {
  return {
    async enqueue(trx, message) {
      if (message.to !== '') await mail?.enqueue(trx, { ...message, kind: 'billing' });
    },
    wake: () => mail?.wake(),
  };
}
