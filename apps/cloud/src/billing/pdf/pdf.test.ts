/** PDFs of invoices, read back with the programs of Debian's package poppler-utils, which CI installs. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { callOf } from '../../access/testing/call-of.ts';
import { isBillingServiceEnabled, readBillingAddress } from '../../accounts/organizations/billing-service.ts';
import { defaultStore as storeKind } from '../../metadata/testing/test-store.ts';
import { issueInvoice } from '../invoices/issue-invoice.ts';
import { openBilling, startMs, type TestBilling } from '../testing/open-billing.ts';
import { invoiceContent } from './invoice-content.ts';
import { invoicePdf } from './invoice-pdf.ts';

let folder = '';
let opened: TestBilling;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'pdf-'));
  opened = await openBilling();
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const names = ['Müller & Søn', 'شركة المعدات', 'חברת בדיקות', '株式会社ロボット', '한국 로봇', 'Ελλάδα Привет'];

async function issue(lines: number, isTest = true): Promise<string> {
  const { db, billerId, customerId } = opened;
  return await db.transaction().execute(async (trx) => {
    const { id } = await issueInvoice(trx, {
      ...{ billerId, organizationId: customerId, kind: 'month', isTest, currency: 'USD', period: '2027-02' },
      ...{ subtotal: BigInt(lines) * 188n, tax: 35n, issuedMs: startMs, dueMs: startMs + 14 * 86_400_000 },
      document: {
        ...{
          description: 'Usage in 2027-02',
          customer: '株式会社ロボット',
          biller: 'شركة المعدات',
          brandingId: billerId,
        },
        ...{
          branding: 'Brand of another',
          supportEmail: 'help@example.com',
          billingEmail: 'pay@example.com',
          tier: 's',
        },
        ...{
          priceListVersion: 1,
          issuer: { address: ['Mill Lane 1'], payment: 'IBAN PT50\nBIC ABC', taxPercent: '19' },
        },
        lines: Array.from({ length: lines }, (_, nth) => ({
          ...{
            text: `${names[nth % names.length]} ${nth}`,
            quantity: '12.5',
            unit: 'GB',
            unitPrice: '0.15',
            minor: 188,
          },
        })),
      },
    });
    return id;
  });
}

async function download(id: string, orgId = opened.customerId): Promise<Buffer> {
  const { billing, owners } = opened;
  const answers = billing.handlers.getInvoicePdf?.({ id, orgId } as never, callOf(owners.customer) as never);
  const chunks: Uint8Array[] = [];
  for await (const { chunk } of answers ?? []) chunks.push(chunk ?? new Uint8Array());
  return Buffer.concat(chunks);
}

function read(program: string, pdf: Uint8Array, ...options: string[]): string {
  const file = join(folder, 'read.pdf');
  writeFileSync(file, pdf);
  return execFileSync(program, [...options, file, ...(program === 'pdftotext' ? ['-'] : [])], { encoding: 'utf8' });
}

test('a PDF of 200 lines is tagged, embeds all its fonts, and its text can be copied in every script', async () => {
  const id = await issue(200);
  const pdf = await download(id);
  const about = read('pdfinfo', pdf);
  expect(about).toMatch(/^Tagged: +yes$/m);
  expect(about).toMatch(/^Title: +Invoice TEST-\d{6}$/m);
  const pages = Number(/^Pages: +(\d+)$/m.exec(about)?.[1]);
  expect(pages).toBeGreaterThan(4);
  const fonts = read('pdffonts', pdf).trim().split('\n').slice(2);
  expect(fonts.length).toBeGreaterThan(5);
  // Embedded, a subset, and with a ToUnicode table.
  for (const font of fonts) expect(font).toMatch(/ yes yes yes +\d+ +\d+$/);
  const text = read('pdftotext', pdf, '-layout');
  for (const name of names) expect(text).toContain(name);
  for (let nth = 0; nth < 200; nth++) expect(text.includes(`${nth}`), `line ${nth}`).toBe(true);
  expect(text.match(/Unit price/g)).toHaveLength(pages);
  expect(text).toContain(`page ${pages} of ${pages}`);
  for (const said of [
    '376.00',
    'Tax (19 %)',
    '376.35 USD',
    'by 2027-03-25',
    'IBAN PT50',
    'BIC ABC',
    'Brand of another',
  ])
    expect(text).toContain(said);
  expect(text).toContain('This is a test. No payment is due.');
  const tags = read('pdfinfo', pdf, '-struct');
  for (const tag of ['Document', 'H1', 'Table', 'TR', 'TH', 'TD']) expect(tags).toContain(tag);
});

test('numbers with 12 decimals stay on one line, and payment instructions on one page', async () => {
  await issue(1);
  const row = await opened.db.selectFrom('invoices').selectAll().executeTakeFirstOrThrow();
  const document = JSON.parse(row.document);
  const line = { ...document.lines[0], quantity: '123456.123456789012', unitPrice: '0.150000000001' };
  for (const count of [1, 24, 25, 26, 27, 28, 29, 30, 31, 32]) {
    const lines = Array.from({ length: count }, () => line);
    const content = invoiceContent({ ...row, document: JSON.stringify({ ...document, lines }) });
    const text = read('pdftotext', await invoicePdf(content, startMs, undefined), '-layout');
    expect(text.match(/123456\.123456789012/g)).toHaveLength(count);
    expect(text.match(/0\.150000000001/g)).toHaveLength(count);
    const [, ...said] = /(Payment\n[^\f]*BIC ABC)/.exec(text) ?? [];
    expect(said, `${count} lines`).toHaveLength(1);
  }
});

test('every download has the same bytes, and so has a PDF made again', async () => {
  const id = await issue(2, false);
  const first = await download(id);
  expect(read('pdftotext', first)).not.toContain('TEST');
  expect((await download(id)).equals(first)).toBe(true);
  await opened.db.deleteFrom('invoice_pdfs').execute();
  expect((await download(id)).equals(first)).toBe(true);
});

test.each([
  ['changed', 'update invoice_pdfs set pdf = X', /PDF of invoice .*: its row in invoice_pdfs was altered or added/],
  ['deleted', 'delete from invoice_pdfs', /invoice_pdfs of .*: expected 1 rows, found 0/],
])('D33 a kept PDF that something else %s is neither sent nor attached, and is named', async (_, sql, message) => {
  const id = await issue(2, false);
  await download(id);
  expect(await opened.rows.look()).toEqual([]);
  const blob = storeKind === 'postgres' ? "convert_to('%PDF-1.7 other', 'UTF8')" : "cast('%PDF-1.7 other' as blob)";
  await opened.alterRows(sql.replace('X', blob));
  const refused = { code: 'data_loss', message: expect.stringMatching(message) };
  await expect(download(id)).rejects.toMatchObject(refused);
  await expect(opened.billing.invoicePdf(opened.customerId, id)).rejects.toMatchObject(refused);
  expect((await opened.rows.look()).join('; ')).toMatch(message);
  await opened.rows.accept();
  expect((await download(id)).length).toBeGreaterThan(10);
});

test.each([
  ["update billing_services set address = replace(address, 'Mill Lane', 'Other Lane')", /its row/],
  ['delete from billing_services', /billing_services of .*: expected 1 rows, found 0/],
])('D33 who bills, and from where, is not answered after %s', async (sql, message) => {
  const { db, clock, billerId } = opened;
  expect(await isBillingServiceEnabled(db, billerId)).toBe(true);
  await opened.alterRows(sql);
  const refused = { code: 'data_loss', message: expect.stringMatching(message) };
  await expect(isBillingServiceEnabled(db, billerId)).rejects.toMatchObject(refused);
  await expect(readBillingAddress({ db, clock }, billerId)).rejects.toMatchObject(refused);
});

test('the logo has a text that names its owner; a damaged logo is omitted', async () => {
  await issue(1);
  const content = invoiceContent(await opened.db.selectFrom('invoices').selectAll().executeTakeFirstOrThrow());
  const logo = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
    'base64',
  );
  const pdf = await invoicePdf(content, startMs, logo);
  expect(read('pdfinfo', pdf, '-struct')).toContain('Figure');
  expect(pdf.includes('(Logo of Brand of another)')).toBe(true);
  expect(read('pdfinfo', await invoicePdf(content, startMs, logo.subarray(0, 20)), '-struct')).not.toContain('Figure');
});

test('invoices of others and unknown invoices are not found', async () => {
  const id = await issue(1);
  await expect(download(id, opened.billerId)).rejects.toMatchObject({ code: 'not_found' });
  await expect(download('00000000-0000-4000-8000-000000000001')).rejects.toMatchObject({ code: 'not_found' });
});
