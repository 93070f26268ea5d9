import { BillingService } from '@platform/proto/platform/app/v1/billing';
import { clientOf } from '../api/clients.ts';
import { downloadText } from '../ui/download.ts';

/** Offers the PDF of an invoice as a file. @throws ConnectError */
export async function downloadInvoice(orgId: string, id: string): Promise<void> {
  const chunks: BlobPart[] = [];
  for await (const { chunk } of clientOf(BillingService).getInvoicePdf({ id, orgId }, { timeoutMs: 60_000 }))
    chunks.push(chunk as Uint8Array<ArrayBuffer>);
  downloadText(`${id}.pdf`, 'application/pdf', chunks);
}
