/** The thread of `makePdf`: answers each request in order. */
import { parentPort } from 'node:worker_threads';
import { errorText } from '@platform/base';
import type { InvoiceContent } from './invoice-content.ts';
import { invoicePdf } from './invoice-pdf.ts';

export interface PdfRequest {
  readonly content: InvoiceContent;
  readonly createdMs: number;
  readonly logo: Uint8Array | undefined;
}

export type PdfAnswer = { readonly pdf: Uint8Array } | { readonly error: string };

const port = parentPort;
if (port === null) throw new Error('pdf-thread.ts is a worker; start it through makePdf');

let last: Promise<void> = Promise.resolve();
port.on('message', ({ content, createdMs, logo }: PdfRequest) => {
  last = last.then(async () => {
    try {
      port.postMessage({ pdf: await invoicePdf(content, createdMs, logo) } satisfies PdfAnswer);
    } catch (caught) {
      port.postMessage({ error: errorText(caught) } satisfies PdfAnswer);
    }
  });
});
