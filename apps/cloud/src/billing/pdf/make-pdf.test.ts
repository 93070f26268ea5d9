import { expect, test } from 'vitest';
import type { InvoiceContent } from './invoice-content.ts';
import { invoicePdf } from './invoice-pdf.ts';
import { makePdf } from './make-pdf.ts';

const createdMs = 1_800_000_000_000;

const contentOf = (title: string): InvoiceContent => ({
  ...{ title, branding: 'Mill', isTest: false, from: ['Mill'], to: ['Saw'], facts: [['Number', '1']], description: '' },
  ...{ head: ['Item', 'Quantity', 'Unit price', 'Amount'], rows: [['Reading', '1', '2.00', '2.00']], currency: 'EUR' },
  ...{ totals: [['Total', '2.00 EUR']], payment: [], support: '' },
});

test('D48 PDFs that are made by the thread at the same time have the bytes that they have otherwise', async () => {
  const contents = ['A', 'B', 'C'].map(contentOf);
  const made = await Promise.all(contents.map((content) => makePdf({ content, createdMs, logo: undefined })));
  for (const [at, content] of contents.entries())
    expect(Buffer.from(made[at] ?? []).equals(await invoicePdf(content, createdMs, undefined))).toBe(true);
});

test('a PDF that cannot be made is refused with the reason, and the next one is made', async () => {
  const broken = { ...contentOf('D'), rows: undefined as never };
  const [refused, made] = [broken, contentOf('E')].map((content) => makePdf({ content, createdMs, logo: undefined }));
  await expect(refused).rejects.toMatchObject({
    ...{ code: 'internal', message: expect.stringMatching(/^the PDF could not be made: ./) },
  });
  expect((await made)?.length).toBeGreaterThan(1_000);
});
