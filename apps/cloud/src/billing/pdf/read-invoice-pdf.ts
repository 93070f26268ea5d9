/**
 * The PDF of an invoice: made at the first download and kept, so that each later download gets the same bytes, whatever has changed since.
 */
import { requireCompleteSet } from '../../metadata/row-checks/require-complete.ts';
import { requireRight } from '../../metadata/row-checks/require-right.ts';
import type { Database } from '../../metadata/tables.ts';
import type { Attachment } from '../../outbox/email/write-notifications.ts';
import type { InvoiceDocument } from '../invoices/issue-invoice.ts';
import { requireInvoice } from '../invoices/states.ts';
import { invoicePdfs } from '../store.ts';
import { invoiceContent } from './invoice-content.ts';
import { makePdf } from './make-pdf.ts';

export interface InvoicePdfDeps {
  readonly db: Database;
  /** PNG or JPEG; undefined if the organization has none. */
  readonly logoOf: (organizationId: string) => Promise<Uint8Array | undefined>;
}

/** @throws not_found, with the same message for another organization's invoice and an unknown one; data_loss when it was altered */
export async function readInvoicePdf(
  { db, logoOf }: InvoicePdfDeps,
  organizationId: string,
  invoiceId: string,
): Promise<Uint8Array> {
  const invoice = await requireInvoice(db, invoiceId, { organizationId });
  const kept = await readKept(db, invoice.id);
  if (kept !== undefined) return kept;
  const { brandingId }: InvoiceDocument = JSON.parse(invoice.document);
  const logo = await logoOf(brandingId);
  const pdf = await makePdf({ content: invoiceContent(invoice), createdMs: invoice.issued_ms, logo });
  await db
    .insertInto('invoice_pdfs')
    .values({ invoice_id: invoice.id, pdf })
    .onConflict((conflict) => conflict.column('invoice_id').doNothing())
    .execute();
  return (await readKept(db, invoice.id)) ?? pdf;
}

/** The PDF as a file of a mail. @throws not_found */
export async function attachedInvoice(
  deps: InvoicePdfDeps,
  organizationId: string,
  invoiceId: string,
): Promise<Attachment> {
  const { number } = await requireInvoice(deps.db, invoiceId, { organizationId });
  const content = Buffer.from(await readInvoicePdf(deps, organizationId, invoiceId));
  return { filename: `${number}.pdf`, contentType: 'application/pdf', content };
}

/** @throws data_loss */
async function readKept(db: Database, invoiceId: string): Promise<Uint8Array | undefined> {
  const row = await db.selectFrom('invoice_pdfs').selectAll().where('invoice_id', '=', invoiceId).executeTakeFirst();
  if (row === undefined) await requireCompleteSet(db, invoicePdfs, invoiceId);
  else requireRight(invoicePdfs, [row]);
  return row?.pdf;
}
