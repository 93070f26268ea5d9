import { UsageCostType } from '@platform/proto/platform/app/v1/billing';
import { TestCard } from '@platform/proto/platform/billing/v1/billing';
import { expect, test } from 'vitest';
import { checkLedger } from '../ledger/check-ledger.ts';
import { monthNamed } from '../month.ts';
import { testProvider } from '../payments/provider.ts';
import { changeAccount } from '../prices/accounts.ts';
import { billing, invoices, openBilling, prices, type TestBilling } from '../testing/open-billing.ts';
import { endedMonths } from './close-periods.ts';

const admin = { kind: 'admin', name: 'root' } as const;
const { signal } = new AbortController();
const april = monthNamed('2027-04');
const may = monthNamed('2027-05');
const nineToEleven = ['2027-09', '2027-10', '2027-11'];

async function open(tier: string, overrides: Parameters<typeof openBilling>[0] = {}): Promise<TestBilling> {
  const on = await openBilling(overrides);
  const tiers = [
    { name: 'standard', in_arrears: true, per_machine: '10', minimum: '1' },
    { name: 'yearly', in_arrears: false, annual_fee: '1200' },
  ];
  const document = JSON.stringify({ currency: 'USD', tax_percent: '19', tiers });
  await on.ask(on.owners.biller, prices.setPriceList, { organizationId: on.billerId, document });
  const change = { billerId: on.billerId, tier, billingEmail: 'bills@example.com' };
  await changeAccount(on.db, admin, 'admin.billing.assign', on.clock.now(), on.customerId, change);
  return on;
}

const use = (on: TestBilling, hour: number, quantity: number) =>
  on.db
    .insertInto('usage_hours')
    .values({ organization_id: on.customerId, hour, type: UsageCostType.PER_MACHINE, quantity })
    .execute();

async function at(on: TestBilling, ms: number): Promise<void> {
  on.clock.setWall(ms);
  while (await on.billing.jobs.sample());
}

const listed = async (on: TestBilling) =>
  await on.db
    .selectFrom('invoices')
    .select(['number', 'kind', 'period', 'subtotal', 'tax', 'total', 'state'])
    .orderBy('sequence')
    .execute();

const bill = (on: TestBilling): Promise<boolean> => on.billing.jobs.close(signal);

test('a month is billed once after it has ended and is fully counted, with tax, and missed months are billed later', async () => {
  const on = await open('standard');
  await use(on, april.startMs, Number(april.hours) * 3);
  const close = (month: string) =>
    on.ask(on.owners.biller, invoices.closeMonth, { organizationId: on.billerId, month });
  await expect(close('2027-04')).rejects.toMatchObject({
    code: 'failed_precondition',
    message: expect.stringContaining('has ended'),
  });
  on.clock.setWall(april.endMs);
  await expect(close('2027-04')).rejects.toMatchObject({
    code: 'failed_precondition',
    message: expect.stringContaining('counted'),
  });
  await at(on, may.startMs + 3_600_000);
  await bill(on);
  await bill(on);
  expect(await close('2027-04')).toMatchObject({ invoiceIds: [], others: 1 });
  expect(await listed(on)).toEqual([
    { number: 'INV-000001', kind: 'month', period: '2027-03', subtotal: 100, tax: 19, total: 119, state: 'open' },
    { number: 'INV-000002', kind: 'month', period: '2027-04', subtotal: 3_000, tax: 570, total: 3_570, state: 'open' },
  ]);
  expect([...on.sent.values()].map(({ subject }) => subject)).toEqual(['Invoice INV-000001', 'Invoice INV-000002']);
  await expect(
    on.ask(on.owners.customer, invoices.closeMonth, { organizationId: on.billerId, month: '2027-04' }),
  ).rejects.toMatchObject({ code: 'not_found' });
  expect((await checkLedger(on.db)).problems).toEqual([]);
});

test('a run that ends in the middle leaves no incomplete invoice, and the next one issues the same numbers', async () => {
  let fails = true;
  const on = await open('standard', {
    mails: {
      enqueue: async () => {
        if (fails) throw new Error('killed');
      },
      wake: () => {},
    },
  });
  await at(on, may.startMs + 3_600_000);
  await expect(bill(on)).rejects.toThrow('killed');
  expect(await listed(on)).toEqual([]);
  fails = false;
  await bill(on);
  expect((await listed(on)).map(({ number, period }) => [number, period])).toEqual([
    ['INV-000001', '2027-03'],
    ['INV-000002', '2027-04'],
  ]);
  expect((await checkLedger(on.db)).problems).toEqual([]);
});

test('an invoice of a month is paid with the attached payment method', async () => {
  const on = await open('standard', { provider: testProvider });
  await on.ask(on.owners.customer, invoices.attachTestCard, { organizationId: on.customerId, card: TestCard.SUCCEEDS });
  await at(on, april.startMs + 3_600_000);
  await bill(on);
  while (await on.billing.jobs.settle(signal));
  expect(await on.ask(on.owners.customer, billing.getInvoicesSummary, { orgId: on.customerId })).toMatchObject({
    ...{ outstandingBalance: 0, currency: 'USD' },
    invoices: [{ status: 'paid', invoiceAmount: 1.19, currency: 'USD' }],
  });
});

test('an organization on an annual tier is billed in advance, once for each year', async () => {
  const on = await open('yearly');
  await at(on, on.clock.now() + 1);
  await bill(on);
  await bill(on);
  await at(on, may.startMs + 3_600_000);
  await bill(on);
  expect(await listed(on)).toMatchObject([{ kind: 'year', period: 'year:2027-03', total: 142_800 }]);
  on.clock.setWall(Date.UTC(2028, 2, 1, 2));
  while (await on.billing.jobs.sample());
  await bill(on);
  expect(await listed(on)).toMatchObject([
    { period: 'year:2027-03' },
    { number: 'INV-000002', period: 'year:2028-03' },
  ]);
});

test('at the turn of a year, even when the clock repeats seconds, December is billed once, with its usage', async () => {
  const on = await open('standard');
  const december = monthNamed('2027-12');
  const [last, first] = [december.endMs - 3_600_000, december.endMs];
  await use(on, last, Number(december.hours));
  await use(on, first, Number(december.hours) * 7);
  await at(on, december.endMs - 1);
  await bill(on);
  const periods = async () => (await listed(on)).map(({ period }) => period);
  expect(await periods()).toEqual(['2027-03', '2027-04', '2027-05', '2027-06', '2027-07', '2027-08', ...nineToEleven]);
  // A leap second, and a clock that is set back by a minute.
  for (const ms of [0, 600_000, 599_999, 540_000, 600_000, 600_001, 3_600_000]) {
    await at(on, december.endMs + ms);
    await bill(on);
  }
  const [billed, ...more] = (await listed(on)).slice(9);
  expect([billed, more]).toMatchObject([{ period: '2027-12', subtotal: 1_000 }, []]);
  expect((await checkLedger(on.db)).problems).toEqual([]);
});

test('an organization that owes is reminded once a day by its biller', async () => {
  const on = await open('standard');
  const ids = { customerOrgId: on.customerId, billingOwnerOrgId: on.billerId };
  const remind = (who = on.owners.biller, request = ids) => on.ask(who, billing.sendPaymentRequiredEmail, request);
  await expect(remind()).rejects.toMatchObject({ code: 'failed_precondition' });
  await expect(remind(on.owners.customer)).rejects.toMatchObject({ code: 'not_found' });
  await expect(remind(on.owners.biller, { ...ids, customerOrgId: 'other' })).rejects.toMatchObject({
    code: 'failed_precondition',
  });
  await on.ask(on.owners.customer, billing.chargeOrganization, { orgIdToCharge: on.customerId, subtotal: 7 });
  await remind();
  await remind();
  const reminders = [...on.sent.values()].filter(({ subject }) => subject.startsWith('Payment required'));
  expect(reminders).toMatchObject([{ text: expect.stringContaining('INV-000001: 7.00 USD, due on 2027-03-25') }]);
});

test('months that have ended are listed oldest first, across the turn of a year', () => {
  const names = (since: number, now: number): string[] => endedMonths(since, now).map(({ name }) => name);
  expect(names(Date.UTC(2026, 10, 30), Date.UTC(2027, 1, 1))).toEqual(['2026-11', '2026-12', '2027-01']);
  expect(names(Date.UTC(2027, 1, 1), Date.UTC(2027, 1, 28, 23, 59, 59, 999))).toEqual([]);
  expect(names(0, Date.UTC(2027, 1, 1))).toHaveLength(24);
});
