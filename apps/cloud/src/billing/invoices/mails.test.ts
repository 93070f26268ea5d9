/** What mails about invoices say. */
import { hourMs } from '@platform/base';
import { UsageCostType } from '@platform/proto/platform/app/v1/billing';
import { TestCard } from '@platform/proto/platform/billing/v1/billing';
import { expect, test } from 'vitest';
import { monthNamed } from '../month.ts';
import { testProvider } from '../payments/provider.ts';
import { invoiceContent } from '../pdf/invoice-content.ts';
import { openBilling, startMs, type TestBilling } from '../testing/open-billing.ts';
import { attach, billStandard, charge, openCharges, summary } from '../testing/open-charges.ts';
import { issueInvoice } from './issue-invoice.ts';
import { type InvoiceMail, mailAbout } from './mails.ts';

const evil = '</title><meta http-equiv=refresh content="0;url=//evil">';

const mailsOf = ({ sent }: TestBilling): InvoiceMail[] => [...sent.values()];

test('the confirmation of a charge names the line, the tax, the sum, the sender and the biller, and carries the PDF', async () => {
  const on = await openCharges();
  const { invoiceId } = await charge(on, { description: 'Set-up of 3 machines' });
  const [mail] = mailsOf(on);
  expect(mail).toMatchObject({ fromName: 'The biller', invoiceId, organizationId: on.customerId });
  for (const said of [
    ...['Invoice INV-000001 for 11.90 USD has been issued. It is due on 2027-04-10.', 'From: The biller'],
    ...['Number: INV-000001', 'Set-up of 3 machines: 10.00 USD', 'Subtotal: 10.00 USD', 'Tax: 1.90 USD'],
    ...['Total: 11.90 USD', 'attached as a PDF'],
  ])
    expect(mail?.text).toContain(said);
  for (const said of ['Set-up of 3 machines', '10.00', 'Tax', '1.90', 'Total', '11.90', 'Amount (USD)', 'The biller'])
    expect(mail?.html).toContain(said);
  const { filename, contentType, content } = await on.billing.invoicePdf(on.customerId, invoiceId);
  expect([filename, contentType, content.subarray(0, 5).toString()]).toEqual([
    ...['INV-000001.pdf', 'application/pdf', '%PDF-'],
  ]);
  await expect(on.billing.invoicePdf(on.billerId, invoiceId)).rejects.toMatchObject({ code: 'not_found' });
});

test('mails about payments name the same, and a test is marked', async () => {
  for (const [card, subject] of [
    [TestCard.SUCCEEDS, 'TEST: Payment received for invoice TEST-000001'],
    [TestCard.DECLINES, 'TEST: Payment failed for invoice TEST-000001'],
  ] as const) {
    const on = await openCharges(testProvider);
    await attach(on, card);
    await charge(on, { description: 'Set-up' });
    await on.billing.jobs.settle(new AbortController().signal);
    const [mail] = mailsOf(on);
    expect(mail?.subject).toBe(subject);
    expect(mail?.text).toMatch(/^This is a test\. No payment is due\.\n/);
    for (const said of ['Set-up: 10.00 USD', 'Tax: 1.90 USD', 'Total: 11.90 USD', 'From: The biller'])
      expect(mail?.text).toContain(said);
    expect(mail?.invoiceId).toBe((await summary(on)).invoices[0]?.id);
  }
});

test('the mail and the PDF of an invoice say the same about the payment: by transfer, or by the attached card', async () => {
  for (const isCharged of [false, true]) {
    const on = await openBilling({ provider: testProvider });
    await billStandard(on, { currency: 'USD', payment_days: 30, payment_instructions: 'IBAN PT50 0002' });
    await on.db
      .insertInto('usage_hours')
      .values({
        ...{ organization_id: on.customerId, type: UsageCostType.PER_MACHINE },
        ...{ hour: monthNamed('2027-03').endMs - hourMs, quantity: 744 },
      })
      .execute();
    if (isCharged) await attach(on, TestCard.SUCCEEDS);
    on.clock.setWall(monthNamed('2027-04').startMs + 3_600_000);
    while (await on.billing.jobs.sample());
    await on.billing.jobs.close(new AbortController().signal);
    const [mail] = mailsOf(on);
    const [, ...payment] = invoiceContent(
      await on.db.selectFrom('invoices').selectAll().executeTakeFirstOrThrow(),
    ).payment;
    expect(payment).toEqual(
      isCharged
        ? [
            'The attached card will be charged 10.00 USD on 2027-04-01. No transfer is needed, unless this payment fails.',
          ]
        : ['Please pay 10.00 USD by 2027-05-01. Reference: TEST-000001.', 'IBAN PT50 0002'],
    );
    for (const line of payment) {
      expect(mail?.text).toContain(line);
      expect(mail?.html).toContain(line);
    }
    expect(mail?.text?.includes('It is due on')).toBe(!isCharged);
  }
});

test('the amounts of mails name the currency of the price list', async () => {
  for (const [currency, sum] of [
    ['EUR', '11.00 EUR'],
    ['JPY', '11 JPY'],
    ['KWD', '11.000 KWD'],
  ] as const) {
    const on = await openBilling();
    await billStandard(on, { currency });
    await charge(on, { subtotal: 10, tax: 1 });
    const [mail] = mailsOf(on);
    expect(mail?.text).toContain(`for ${sum} has been issued`);
    expect(mail?.text).toContain(`Total: ${sum}`);
    expect(mail?.html).toContain(`Amount (${currency})`);
    expect(`${mail?.text}${mail?.html}`).not.toMatch(/USD|\$/);
  }
});

test('names and descriptions are no HTML; of hundreds of lines, the mail shows a hundred', async () => {
  const on = await openBilling();
  const lines = Array.from({ length: 130 }, (_, nth) => ({
    ...{ text: `${evil} ${nth}`, quantity: '12.5', unit: 'GB', unitPrice: '0.15', minor: 188 },
  }));
  const invoice = await on.db.transaction().execute((trx) =>
    issueInvoice(trx, {
      ...{ billerId: on.billerId, organizationId: on.customerId, kind: 'month', isTest: false, currency: 'USD' },
      ...{ subtotal: 130n * 188n, tax: 4644n, issuedMs: startMs, dueMs: startMs, period: '2027-02' },
      document: {
        ...{ description: evil, customer: evil, biller: evil, brandingId: on.billerId, branding: evil, lines },
        ...{ supportEmail: 'help@example.com', billingEmail: 'pay@example.com', tier: 's', priceListVersion: 1 },
        issuer: { address: [evil], payment: evil, taxPercent: '19' },
      },
    }),
  );
  const { text, html, replyTo } = mailAbout('failed', invoice, 'c', evil);
  expect(html).not.toMatch(/<meta http-equiv/);
  expect(html?.match(/<title>/g)).toHaveLength(1);
  expect(html).toContain('Tax (19 %)');
  expect(text).toContain(`${evil} 99 (12.5 GB × 0.15): 1.88 USD`);
  expect(text).not.toContain(`${evil} 100 `);
  expect(text).toContain('30 further lines are in the attached PDF.');
  expect(replyTo).toBe('help@example.com');
});
