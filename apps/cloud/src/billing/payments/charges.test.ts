import { TestCard } from '@platform/proto/platform/billing/v1/billing';
import { expect, test } from 'vitest';
import { checkLedger } from '../ledger/check-ledger.ts';
import { billing, invoices } from '../testing/open-billing.ts';
import {
  admin,
  attach,
  charge,
  chargeNow,
  ended,
  expectLedgerInOrder,
  openCharges,
  summary,
} from '../testing/open-charges.ts';
import { type Outcome, type PaymentProvider, testProvider } from './provider.ts';
import { recordPayment } from './record-payment.ts';

const { signal } = new AbortController();

test('D28 manual: ChargeOrganization issues an outstanding invoice; the blocking call fails fast and leaves none', async () => {
  const on = await openCharges();
  await expect(chargeNow(on)).rejects.toMatchObject({
    code: 'failed_precondition',
    message: expect.stringContaining('"manual"'),
  });
  expect(await summary(on)).toMatchObject({ outstandingBalance: 0, invoices: [] });
  const { invoiceId } = await charge(on, { description: 'Set-up' });
  expect(await summary(on)).toMatchObject({
    outstandingBalance: 11.9,
    invoices: [{ id: invoiceId, invoiceAmount: 11.9, status: 'open' }],
  });
  expect([...on.sent.values()]).toMatchObject([{ to: 'bills@example.com', subject: 'Invoice INV-000001' }]);
  const record = (amount: string, reference: string) =>
    recordPayment({ db: on.db, clock: on.clock, mails: undefined }, admin, { invoiceId, amount, reference });
  expect(await record('5', 'a')).toMatchObject({ state: 'open', open: '6.90', isNew: true });
  expect(await record('5', 'a')).toMatchObject({ open: '6.90', isNew: false });
  await expect(record('6', 'a')).rejects.toMatchObject({ code: 'already_exists' });
  await expect(record('6.91', 'b')).rejects.toMatchObject({ code: 'failed_precondition' });
  for (const wrong of ['0', '1.005', '-1', 'x'])
    await expect(record(wrong, 'b')).rejects.toMatchObject({ code: 'invalid_argument' });
  expect((await summary(on)).outstandingBalance).toBe(6.9);
  expect(await record('6.9', 'b')).toMatchObject({ state: 'paid', open: '0.00' });
  expect(await summary(on)).toMatchObject({ outstandingBalance: 0, invoices: [{ status: 'paid' }] });
  await expectLedgerInOrder(on);
});

test('D27 a payment confirmed at once ends the call at once', async () => {
  const on = await openCharges(testProvider);
  await expect(chargeNow(on)).rejects.toMatchObject({
    code: 'failed_precondition',
    message: expect.stringContaining('payment method'),
  });
  await attach(on, TestCard.SUCCEEDS);
  expect(await on.ask(on.owners.customer, billing.getOrgBillingInformation, { orgId: on.customerId })).toMatchObject({
    ...{ type: 1, method: { brand: 'test', lastFourDigits: '4242' } },
  });
  const { invoiceId } = await chargeNow(on);
  const { invoices: listed, outstandingBalance } = await summary(on);
  expect([listed.map(({ id, status }) => [id, status]), outstandingBalance]).toEqual([[[invoiceId, 'paid']], 0]);
  expect([...on.sent.values()].map(({ subject }) => subject)).toEqual([
    'TEST: Payment received for invoice TEST-000001',
  ]);
  await expectLedgerInOrder(on);
});

test('D27 without confirmation the call ends after two minutes with the invoice id; a late one is booked, none twice', async () => {
  const on = await openCharges(testProvider);
  for (const afterSeconds of [121, 300, 2 * 86_400]) {
    await attach(on, TestCard.CONFIRMS_LATE, afterSeconds);
    const beganMs = on.clock.now();
    const { code, message, tookMs } = await ended(on, chargeNow(on, { amount: afterSeconds }));
    const id = /^invoice ([\w-]{36}): expected the payment to be confirmed within 2 minutes/.exec(message)?.[1];
    expect([code, id]).toEqual(['deadline_exceeded', expect.any(String)]);
    expect(Math.abs(tookMs - 120_000)).toBeLessThanOrEqual(1_000);
    const state = async () => (await summary(on)).invoices.find((one) => one.id === id)?.status;
    expect(await state()).toBe('open');
    while (await on.billing.jobs.settle(signal));
    expect(await state()).toBe('open');
    await on.clock.advance(beganMs + afterSeconds * 1_000 + 3_600_000 - on.clock.now());
    while (await on.billing.jobs.settle(signal));
    expect(await state()).toBe('paid');
    while (await on.billing.jobs.settle(signal));
  }
  const charges = await on.db.selectFrom('charges').select(['state']).execute();
  expect(charges.map(({ state }) => state)).toEqual(['succeeded', 'succeeded', 'succeeded']);
  await expectLedgerInOrder(on);
});

test('a confirmation within two minutes ends the call; a provider that hangs, throws or lies does not hold it longer', async () => {
  const on = await openCharges(testProvider);
  await attach(on, TestCard.CONFIRMS_LATE, 30);
  const { code, tookMs } = await ended(on, chargeNow(on));
  expect([code, Math.round(tookMs / 1_000)]).toEqual(['ok', 30]);
  let asked = 0;
  const hanging: PaymentProvider = {
    ...testProvider,
    settle: async () => {
      asked += 1;
      if (asked % 2 === 0) throw new Error('connection reset');
      return await new Promise<Outcome>(() => {});
    },
  };
  const slow = await openCharges(hanging);
  await attach(slow, TestCard.SUCCEEDS);
  const late = await ended(slow, chargeNow(slow));
  expect([late.code, Math.abs(late.tookMs - 120_000) <= 1_000]).toEqual(['deadline_exceeded', true]);
});

test('a charge that the provider does not answer holds up no other one', async () => {
  let stuck: string | undefined;
  const partlyHanging: PaymentProvider = {
    ...testProvider,
    settle: (one, nowMs, ended) =>
      one.invoiceId === stuck ? new Promise(() => {}) : testProvider.settle(one, nowMs, ended),
  };
  const on = await openCharges(partlyHanging);
  await attach(on, TestCard.CONFIRMS_LATE, 60);
  const ids: string[] = [];
  for (const subtotal of [1, 2, 3]) ids.push((await charge(on, { subtotal })).invoiceId);
  [stuck] = ids;
  await on.clock.advance(120_000);
  const settling = on.billing.jobs.settle(signal);
  const openOnes = async () =>
    (await summary(on)).invoices.filter(({ status }) => status === 'open').map(({ id }) => id);
  // The clock is stopped: the answer for the first one is still pending.
  await expect.poll(openOnes).toEqual([stuck]);
  expect(await ended(on, settling)).toMatchObject({ code: 'ok' });
  expect(await openOnes()).toEqual([stuck]);
  await expectLedgerInOrder(on);
});

test('amounts, descriptions, branding and payers that cannot be charged are refused by name, and no invoice remains', async () => {
  const on = await openCharges(testProvider);
  await attach(on, TestCard.SUCCEEDS);
  for (const amount of [0, -1, 1.005, Number.NaN, Number.POSITIVE_INFINITY, 1e300])
    await expect(chargeNow(on, { amount })).rejects.toMatchObject({
      code: 'invalid_argument',
      message: expect.stringMatching(/^amount: /),
    });
  await expect(charge(on, { subtotal: 0.001 })).rejects.toMatchObject({
    message: expect.stringMatching(/^subtotal: /),
  });
  await expect(charge(on, { tax: -1 })).rejects.toMatchObject({ message: expect.stringMatching(/^tax: /) });
  for (const description of ['x'.repeat(1_001), 'a\u0007b'])
    await expect(charge(on, { description })).rejects.toMatchObject({
      code: 'invalid_argument',
      message: expect.stringMatching(/^description: /),
    });
  await expect(charge(on, { orgIdForBranding: 'other' })).rejects.toMatchObject({ code: 'not_found' });
  await expect(charge(on, {}, { metadata: { 'idempotency-key': 'a b' } })).rejects.toMatchObject({
    code: 'invalid_argument',
  });
  const orgIdToCharge = on.customerId;
  await expect(
    on.ask(on.owners.biller, billing.chargeOrganization, { orgIdToCharge, subtotal: 1 }),
  ).rejects.toMatchObject({ code: 'not_found' });
  await expect(
    on.ask(on.owners.biller, billing.chargeOrganization, { orgIdToCharge: on.billerId, subtotal: 1 }),
  ).rejects.toMatchObject({ code: 'failed_precondition', message: expect.stringContaining('without a biller') });
  expect((await summary(on)).invoices).toEqual([]);
  expect(await charge(on, { description: '😀'.repeat(1_000), orgIdForBranding: on.customerId })).toMatchObject({
    invoiceId: expect.any(String),
  });
});

/** The store's error, which names no statement. */
const refusal = /conflicts with stored data|append-only|rejected a statement/;

test('an open invoice is cancelled by a credit note of the biller; the ledger refuses changes and shows them', async () => {
  const on = await openCharges();
  const { invoiceId } = await charge(on);
  const cancel = (who = on.owners.biller, organizationId = on.billerId) =>
    on.ask(who, invoices.voidInvoice, { organizationId, invoiceId, reason: 'a mistake' });
  await expect(cancel(on.owners.customer)).rejects.toMatchObject({ code: 'not_found' });
  await expect(cancel(on.owners.customer, on.customerId)).rejects.toMatchObject({ code: 'not_found' });
  await cancel();
  await expect(cancel()).rejects.toMatchObject({ code: 'failed_precondition' });
  expect(await summary(on)).toMatchObject({
    outstandingBalance: 0,
    invoices: [{ invoiceAmount: -11.9 }, { status: 'void' }],
  });
  await expectLedgerInOrder(on);
  await expect(on.db.updateTable('ledger_lines').set({ minor: 1 }).execute()).rejects.toThrow(refusal);
  await expect(on.db.deleteFrom('ledger_lines').execute()).rejects.toThrow(refusal);
  await expect(on.db.updateTable('invoices').set({ total: 1 }).execute()).rejects.toThrow(refusal);
  const [line] = await on.db.selectFrom('ledger_lines').selectAll().orderBy('line', 'desc').limit(1).execute();
  if (line === undefined) throw new Error('expected a line');
  await on.db
    .insertInto('ledger_lines')
    .values({ ...line, line: line.line + 2, minor: 5 })
    .execute();
  const { problems } = await checkLedger(on.db);
  expect(problems.join('\n')).toMatch(/lines are missing[\s\S]*hash does not match[\s\S]*expected a sum of 0/);
});
