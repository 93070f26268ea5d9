import { TestCard } from '@platform/proto/platform/billing/v1/billing';
import { expect, test } from 'vitest';
import { checkLedger } from '../ledger/check-ledger.ts';
import { type PaymentProvider, testProvider } from '../payments/provider.ts';
import { recordPayment } from '../payments/record-payment.ts';
import { changeAccount } from '../prices/accounts.ts';
import { billing, invoices, openBilling, prices, type TestBilling } from '../testing/open-billing.ts';

const admin = { kind: 'admin', name: 'root' } as const;
const { signal } = new AbortController();
const dayMs = 24 * 3_600_000;
const paymentDays = 14;

async function open(overrides: Parameters<typeof openBilling>[0] = {}): Promise<TestBilling> {
  const on = await openBilling(overrides);
  const tiers = [{ name: 'yearly', in_arrears: false, annual_fee: '1200' }];
  const document = JSON.stringify({
    ...{ currency: 'USD', payment_days: paymentDays, payment_instructions: 'IBAN PT50 0002', tiers },
  });
  await on.ask(on.owners.biller, prices.setPriceList, { organizationId: on.billerId, document });
  const change = { billerId: on.billerId, tier: 'yearly', billingEmail: 'bills@example.com' };
  await changeAccount(on.db, admin, 'admin.billing.assign', on.clock.now(), on.customerId, change);
  return on;
}

/** Issues the invoice of the first year, tries to pay it, and returns its due date. */
async function issued(on: TestBilling): Promise<number> {
  await on.billing.jobs.close(signal);
  while (await on.billing.jobs.settle(signal));
  return on.clock.now() + paymentDays * dayMs;
}

/** Runs the jobs several times, as they run within a day and a bit. */
async function run(on: TestBilling, ms: number): Promise<void> {
  on.clock.setWall(ms);
  for (let time = 0; time < 3; time++) {
    while (await on.billing.jobs.dun(signal));
    while (await on.billing.jobs.settle(signal));
  }
}

const attach = (on: TestBilling, card: TestCard) =>
  on.ask(on.owners.customer, invoices.attachTestCard, { organizationId: on.customerId, card });

const subjects = (on: TestBilling): string[] => [...on.sent.values()].map(({ subject }) => subject);

const statuses = async (on: TestBilling) => {
  const summary = await on.ask(on.owners.customer, billing.getInvoicesSummary, { orgId: on.customerId });
  return summary.invoices.map(({ status }) => status);
};

const steps = async (on: TestBilling) =>
  (await on.db.selectFrom('audit_entries').select('detail').where('action', '=', 'InvoiceService.Dun').execute()).map(
    ({ detail }) => JSON.parse(detail).step as number,
  );

test('an invoice paid by transfer has reminders 1, 5, 10 and 20 days after its due date, then is listed as unpaid until paid', async () => {
  const on = await open();
  const dueMs = await issued(on);
  const reminders = () => subjects(on).slice(1);
  await run(on, dueMs + dayMs - 1);
  expect(reminders()).toEqual([]);
  for (let day = 1; day < 60; day++) {
    const before = await statuses(on);
    expect(before, `day ${day}`).toEqual([day <= 20 ? 'open' : 'unpaid']);
    await run(on, dueMs + day * dayMs);
    expect(reminders(), `day ${day}`).toHaveLength([1, 5, 10, 20].filter((one) => one <= day).length);
  }
  expect(reminders()).toEqual([
    ...['Reminder: invoice INV-000001', 'Reminder: invoice INV-000001', 'Reminder: invoice INV-000001'],
    'Last reminder: invoice INV-000001',
  ]);
  expect([...on.sent.values()].at(-1)).toMatchObject({
    to: 'bills@example.com',
    text: expect.stringMatching(
      /^Invoice INV-000001 for 1200\.00 USD was due on 2027-03-25 and is not paid\.\nThis is the last reminder\.\n[\s\S]*\n\nIBAN PT50 0002\n/,
    ),
  });
  expect(await steps(on)).toEqual([1, 2, 3, 4]);
  const { id: invoiceId } = await on.db.selectFrom('invoices').select('id').executeTakeFirstOrThrow();
  const deps = { db: on.db, clock: on.clock, mails: undefined };
  await recordPayment(deps, admin, { invoiceId, amount: '1200', reference: 'a' });
  expect(await statuses(on)).toEqual(['paid']);
  expect((await checkLedger(on.db)).problems).toEqual([]);
});

test('an invoice paid or cancelled between two steps gets no further reminder; a partial payment is subtracted', async () => {
  const on = await open();
  const dueMs = await issued(on);
  await run(on, dueMs + dayMs);
  const { id: invoiceId } = await on.db.selectFrom('invoices').select('id').executeTakeFirstOrThrow();
  const deps = { db: on.db, clock: on.clock, mails: undefined };
  await recordPayment(deps, admin, { invoiceId, amount: '1000', reference: 'a' });
  await run(on, dueMs + 5 * dayMs);
  expect([...on.sent.values()].at(-1)?.text).toContain('200.00 USD remains to be paid.');
  await recordPayment(deps, admin, { invoiceId, amount: '200', reference: 'b' });
  await run(on, dueMs + 30 * dayMs);
  expect(await steps(on)).toEqual([1, 2]);
  const { invoiceId: second } = await on.ask(on.owners.customer, billing.chargeOrganization, {
    ...{ orgIdToCharge: on.customerId, subtotal: 7 },
  });
  const where = { organizationId: on.billerId, invoiceId: second, reason: 'a mistake' };
  await on.ask(on.owners.biller, invoices.voidInvoice, where);
  // The credit note for it is settled at once.
  expect((await statuses(on)).toSorted()).toEqual(['paid', 'paid', 'void']);
  await run(on, dueMs + 90 * dayMs);
  expect(await steps(on)).toEqual([1, 2]);
});

test('after an outage the reminders come in order, at the intervals of the schedule', async () => {
  const on = await open();
  const dueMs = await issued(on);
  // The cloud was down when the first three steps were due, and later when the third was.
  for (const [day, taken] of [
    [12, [1]],
    [15, [1]],
    [16, [1, 2]],
    [20, [1, 2]],
    [40, [1, 2, 3]],
    [49, [1, 2, 3]],
    [50, [1, 2, 3, 4]],
    [90, [1, 2, 3, 4]],
  ] as const) {
    await run(on, dueMs + day * dayMs);
    expect(await steps(on), `day ${day}`).toEqual(taken);
  }
  expect(subjects(on).slice(1)).toEqual([
    ...['Reminder: invoice INV-000001', 'Reminder: invoice INV-000001', 'Reminder: invoice INV-000001'],
    'Last reminder: invoice INV-000001',
  ]);
});

test('a crash within a step leaves nothing of it, and a crash after a step does not repeat it', async () => {
  let crash: 'enqueue' | 'wake' | undefined;
  const sent: string[] = [];
  const on = await open({
    mails: {
      async enqueue(_trx, { subject }) {
        if (crash === 'enqueue') throw new Error('killed');
        sent.push(subject);
      },
      wake() {
        if (crash === 'wake') throw new Error('killed');
      },
    },
  });
  const dueMs = await issued(on);
  on.clock.setWall(dueMs + dayMs);
  crash = 'enqueue';
  await expect(on.billing.jobs.dun(signal)).rejects.toThrow('killed');
  expect(await steps(on)).toEqual([]);
  crash = 'wake';
  await expect(on.billing.jobs.dun(signal)).rejects.toThrow('killed');
  crash = undefined;
  await run(on, dueMs + dayMs);
  expect([await steps(on), sent]).toEqual([[1], ['Invoice INV-000001', 'Reminder: invoice INV-000001']]);
});

test('an invoice of a period is charged again at each step, and mails report the result', async () => {
  const on = await open({ provider: testProvider });
  await attach(on, TestCard.DECLINES);
  const dueMs = await issued(on);
  const outcomes = async () =>
    (await on.db.selectFrom('charges').select('state').orderBy('created_ms').execute()).map(({ state }) => state);
  expect(await outcomes()).toEqual(['failed']);
  await run(on, dueMs + dayMs);
  await run(on, dueMs + 5 * dayMs);
  expect(await outcomes()).toEqual(['failed', 'failed', 'failed']);
  await attach(on, TestCard.SUCCEEDS);
  await run(on, dueMs + 10 * dayMs);
  await run(on, dueMs + 20 * dayMs);
  expect(await outcomes()).toEqual(['failed', 'failed', 'failed', 'succeeded']);
  const failed = 'TEST: Payment failed for invoice TEST-000001';
  const paid = 'TEST: Payment received for invoice TEST-000001';
  expect(subjects(on)).toEqual(['TEST: Invoice TEST-000001', failed, failed, failed, paid]);
  expect(await statuses(on)).toEqual(['paid']);
});

test('an invoice being paid waits; a charge is not retried automatically; a quiet charge causes no mails', async () => {
  let answer: Awaited<ReturnType<PaymentProvider['settle']>> = { kind: 'unknown' };
  const on = await open({ provider: { ...testProvider, settle: async () => answer } });
  await attach(on, TestCard.SUCCEEDS);
  const beganMs = on.clock.now();
  const charge = (subtotal: number, disableConfirmationEmail: boolean) =>
    on.ask(on.owners.customer, billing.chargeOrganization, {
      ...{ orgIdToCharge: on.customerId, subtotal, disableConfirmationEmail },
    });
  await charge(7, false);
  await charge(8, true);
  await run(on, beganMs + 6 * dayMs);
  expect(await steps(on)).toEqual([]);
  answer = { kind: 'failed', reason: 'declined' };
  await run(on, beganMs + 7 * dayMs);
  await run(on, beganMs + 7 * dayMs + 600_000);
  expect(await steps(on)).toEqual([1, 1]);
  expect(subjects(on)).toEqual([
    ...['TEST: Payment failed for invoice TEST-000001', 'TEST: Reminder: invoice TEST-000001'],
  ]);
  expect(await on.db.selectFrom('charges').select('id').execute()).toHaveLength(2);
});
