import type { PlatformError } from '@platform/base';
import { TestCard } from '@platform/proto/platform/billing/v1/billing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkLedger } from '../ledger/check-ledger.ts';
import { changeAccount } from '../prices/accounts.ts';
import { billing, invoices, openBilling, prices, type TestBilling } from '../testing/open-billing.ts';
import { type Charge, type Outcome, type PaymentProvider, testProvider } from './provider.ts';
import { recordPayment } from './record-payment.ts';

const admin = { kind: 'admin', name: 'root' } as const;
const { signal } = new AbortController();

async function open(provider?: PaymentProvider): Promise<TestBilling> {
  const on = await openBilling(provider && { provider });
  const document = JSON.stringify({
    currency: 'USD',
    payment_days: 30,
    tiers: [{ name: 'standard', in_arrears: true, per_machine: '10' }],
  });
  await on.ask(on.owners.biller, prices.setPriceList, { organizationId: on.billerId, document });
  const change = { billerId: on.billerId, tier: 'standard', billingEmail: 'bills@example.com' };
  await changeAccount(on.db, admin, 'admin.billing.assign', on.clock.now(), on.customerId, change);
  return on;
}

const attach = (on: TestBilling, card: TestCard, confirmAfterSeconds = 0) =>
  on.ask(on.owners.customer, invoices.attachTestCard, { organizationId: on.customerId, card, confirmAfterSeconds });

const charge = (on: TestBilling, more: object = {}, metadata: Record<string, string> = {}) =>
  on.ask(
    on.owners.customer,
    billing.chargeOrganization,
    { orgIdToCharge: on.customerId, subtotal: 10, tax: 1.9, ...more },
    metadata,
  );

const chargeNow = (on: TestBilling, more: object = {}, metadata: Record<string, string> = {}) =>
  on.ask(
    on.owners.customer,
    billing.createInvoiceAndChargeImmediately,
    { orgIdToCharge: on.customerId, amount: 12.5, ...more },
    metadata,
  );

const summary = (on: TestBilling) => on.ask(on.owners.customer, billing.getInvoicesSummary, { orgId: on.customerId });

/** Advances the clock until the call has ended, and returns its result and duration. */
async function ended(
  on: TestBilling,
  call: Promise<unknown>,
): Promise<{ code: string; message: string; tookMs: number }> {
  const began = on.clock.monotonic();
  let result: { code: string; message: string } | undefined;
  call.then(
    () => {
      result = { code: 'ok', message: '' };
    },
    (caught: PlatformError) => {
      result = { code: caught.code, message: caught.message };
    },
  );
  while (result === undefined) {
    if (on.clock.waiting > 0) await on.clock.advance(250);
    else await new Promise((resolve) => setImmediate(resolve));
  }
  return { ...result, tookMs: on.clock.monotonic() - began };
}

const ordered = async (on: TestBilling) => expect((await checkLedger(on.db)).problems).toEqual([]);

test('D28 manual: ChargeOrganization issues an outstanding invoice; the blocking call fails fast and leaves none', async () => {
  const on = await open();
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
  await ordered(on);
});

test('D27 a payment confirmed at once ends the call at once; a repeated request returns the same invoice', async () => {
  const on = await open(testProvider);
  await expect(chargeNow(on)).rejects.toMatchObject({
    code: 'failed_precondition',
    message: expect.stringContaining('payment method'),
  });
  await attach(on, TestCard.SUCCEEDS);
  expect(await on.ask(on.owners.customer, billing.getOrgBillingInformation, { orgId: on.customerId })).toMatchObject({
    ...{ type: 1, method: { brand: 'test', lastFourDigits: '4242' } },
  });
  const first = await chargeNow(on);
  const others = await Promise.all(Array.from({ length: 5 }, () => chargeNow(on)));
  expect(new Set([first, ...others].map(({ invoiceId }) => invoiceId)).size).toBe(1);
  const keyed = await chargeNow(on, {}, { 'idempotency-key': 'k1' });
  expect(keyed.invoiceId).not.toBe(first.invoiceId);
  expect(await chargeNow(on, {}, { 'idempotency-key': 'k1' })).toEqual(keyed);
  await expect(chargeNow(on, { amount: 1 }, { 'idempotency-key': 'k1' })).rejects.toMatchObject({
    code: 'invalid_argument',
  });
  on.clock.setWall(on.clock.now() + 25 * 3_600_000);
  expect((await chargeNow(on)).invoiceId).not.toBe(first.invoiceId);
  const { invoices: listed, outstandingBalance } = await summary(on);
  expect([listed.map(({ status }) => status), outstandingBalance]).toEqual([['paid', 'paid', 'paid'], 0]);
  expect([...on.sent.values()].map(({ subject }) => subject)).toEqual(
    [1, 2, 3].map((number) => `TEST: Payment received for invoice TEST-00000${number}`),
  );
  await ordered(on);
});

test('D27 without confirmation the call ends after two minutes with the invoice id; a late one is booked, none twice', async () => {
  const on = await open(testProvider);
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
  await ordered(on);
});

test('a confirmation within two minutes ends the call; a provider that hangs, throws or lies does not hold it longer', async () => {
  const on = await open(testProvider);
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
  const slow = await open(hanging);
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
  const on = await open(partlyHanging);
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
  await ordered(on);
});

test('a declined payment states the reason, leaves the invoice open, and a repeated request tries again', async () => {
  const on = await open(testProvider);
  await attach(on, TestCard.DECLINES);
  await expect(chargeNow(on)).rejects.toMatchObject({
    code: 'failed_precondition',
    message: expect.stringContaining('declined'),
  });
  const [declined] = (await summary(on)).invoices;
  expect(declined).toMatchObject({ status: 'open', lastPaymentFailureReason: 'the test card was declined' });
  await attach(on, TestCard.SUCCEEDS);
  expect(await chargeNow(on)).toMatchObject({ invoiceId: declined?.id });
  expect((await summary(on)).invoices).toMatchObject([{ status: 'paid' }]);
  await ordered(on);
});

test('amounts, descriptions, branding and payers that cannot be charged are refused by name, and no invoice remains', async () => {
  const on = await open(testProvider);
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
  await expect(charge(on, {}, { 'idempotency-key': 'a b' })).rejects.toMatchObject({ code: 'invalid_argument' });
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
  const on = await open();
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
  await ordered(on);
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

test('any order of calls, confirmations, repeats and lost answers charges each invoice once', async () => {
  const step = fc.oneof(
    fc.record({ do: fc.constant('charge' as const), key: fc.nat(3) }),
    fc.record({
      do: fc.constant('confirm' as const),
      which: fc.nat(5),
      outcome: fc.constantFrom('succeeded', 'failed', 'lost'),
    }),
    fc.record({ do: fc.constant('settle' as const), minutes: fc.nat(90) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
      /** What the far end knows: each attempt has one outcome, however often it is queried. */
      const known = new Map<string, Outcome>();
      const order: string[] = [];
      let isLost = false;
      const provider: PaymentProvider = {
        ...testProvider,
        async settle({ id }: Charge) {
          if (!known.has(id)) {
            known.set(id, { kind: 'unknown' });
            order.push(id);
          }
          if (isLost) throw new Error('connection reset');
          return known.get(id) ?? { kind: 'unknown' };
        },
      };
      const on = await open(provider);
      await attach(on, TestCard.SUCCEEDS);
      for (const one of steps) {
        if (one.do === 'charge') await charge(on, {}, { 'idempotency-key': `k${one.key}` });
        if (one.do === 'settle') {
          on.clock.setWall(on.clock.now() + one.minutes * 60_000);
          while (await on.billing.jobs.settle(signal));
        }
        if (one.do === 'confirm') {
          isLost = one.outcome === 'lost';
          const id = order[one.which];
          if (id !== undefined && one.outcome !== 'lost' && known.get(id)?.kind === 'unknown')
            known.set(id, one.outcome === 'succeeded' ? { kind: 'succeeded' } : { kind: 'failed', reason: 'declined' });
        }
      }
      isLost = false;
      // First it is told of the attempts that were never submitted, then it confirms the open ones.
      for (const _round of [1, 2]) {
        on.clock.setWall(on.clock.now() + 3 * 3_600_000);
        while (await on.billing.jobs.settle(signal));
        for (const [id, { kind }] of known) if (kind === 'unknown') known.set(id, { kind: 'succeeded' });
      }
      const rows = await on.db.selectFrom('charges').select(['id', 'invoice_id', 'state']).execute();
      for (const { id, state } of rows) expect(known.get(id)?.kind ?? 'succeeded').toBe(state);
      const paid = rows.filter(({ state }) => state === 'succeeded').map(({ invoice_id }) => invoice_id);
      expect(new Set(paid).size).toBe(paid.length);
      const listed = await on.db.selectFrom('invoices').select(['id', 'state']).execute();
      expect(
        listed
          .filter(({ state }) => state === 'paid')
          .map(({ id }) => id)
          .toSorted(),
      ).toEqual(paid.toSorted());
      await ordered(on);
    }),
    { numRuns: 12 },
  );
});
