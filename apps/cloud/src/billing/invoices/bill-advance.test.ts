import { hourMs } from '@platform/base';
import { UsageCostType } from '@platform/proto/platform/app/v1/billing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkLedger } from '../ledger/check-ledger.ts';
import { monthNamed, monthOf, nextHourOf } from '../month.ts';
import { changeAccount } from '../prices/accounts.ts';
import { laterLines, monthsOf } from '../prices/advance.ts';
import { parsePriceList } from '../prices/price-list.ts';
import { openBilling, prices, startMs, type TestBilling } from '../testing/open-billing.ts';

const admin = { kind: 'admin', name: 'root' } as const;
const { signal } = new AbortController();
const tiers = [
  { name: 'monthly', in_arrears: false, per_machine: '31', discount_percent: '10' },
  { name: 'yearly', in_arrears: false, annual_fee: '100', per_machine_per_year: '365', credit: '1' },
  { name: 'standard', in_arrears: true, per_machine: '10' },
];

interface Customer extends TestBilling {
  /** Number of machines from now on. */
  machines: number;
  /** Runs the cloud until a time, hour by hour. */
  until(ms: number): Promise<void>;
  listed(): Promise<unknown[]>;
  lines(period: string): Promise<unknown[]>;
}

async function open(tier: string): Promise<Customer> {
  const on = await openBilling();
  const document = JSON.stringify({ currency: 'USD', tiers });
  await on.ask(on.owners.biller, prices.setPriceList, { organizationId: on.billerId, document });
  const change = { billerId: on.billerId, tier, billingEmail: '' };
  await changeAccount(on.db, admin, 'admin.billing.assign', on.clock.now(), on.customerId, change);
  const customer: Customer = {
    ...on,
    machines: 3,
    async until(ms) {
      on.clock.setWall(ms);
      while (await on.billing.jobs.sample());
      await on.billing.jobs.close(signal);
      await on.billing.jobs.close(signal);
    },
    listed: async () =>
      (await on.db.selectFrom('invoices').select(['period', 'subtotal']).orderBy('sequence').execute()).map(
        ({ period, subtotal }) => [period, subtotal],
      ),
    async lines(period) {
      const row = await on.db
        .selectFrom('invoices')
        .select('document')
        .where('period', '=', period)
        .executeTakeFirstOrThrow();
      return JSON.parse(row.document).lines;
    },
  };
  on.stored.push({
    type: UsageCostType.PER_MACHINE,
    read: async () => [{ organizationId: on.customerId, quantity: customer.machines }],
  });
  return customer;
}

const march = monthOf(startMs);
const april = monthNamed('2027-04');
const may = monthNamed('2027-05');
const firstHours = (march.endMs - nextHourOf(startMs)) / hourMs;

test('machines are paid in advance for each month, from the hour in which billing began, and later ones by the hour', async () => {
  const on = await open('monthly');
  await on.until(startMs + 60_000);
  // The machines of the first whole hour have not been counted yet.
  expect(await on.listed()).toEqual([]);
  await on.until(startMs + hourMs);
  const part = Math.round(((3 * firstHours) / Number(march.hours)) * 3_100);
  const first = ['advance:2027-03', part - Math.round(part / 10)];
  expect(await on.listed()).toEqual([first]);
  await on.until(march.endMs - 1);
  expect(await on.listed()).toEqual([first]);
  await on.until(march.endMs + hourMs);
  const second = ['advance:2027-04', 8_370];
  expect(await on.listed()).toEqual([first, second]);
  expect(await on.lines('advance:2027-04')).toMatchObject([
    { text: 'Machines, in advance', quantity: '3', unit: 'machine-month', unitPrice: '31', minor: 9_300 },
    { text: 'Discount of 10 %', minor: -930 },
  ]);
  // Two more from the 16th; one machine less on the last day is not refunded.
  await on.until(Date.UTC(2027, 3, 15, 23));
  on.machines = 5;
  await on.until(Date.UTC(2027, 3, 29, 23));
  on.machines = 2;
  await on.until(april.endMs + hourMs);
  expect(await on.listed()).toEqual([first, second, ['advance:2027-05', 5_580], ['2027-04', 2_604]]);
  expect(await on.lines('2027-04')).toMatchObject([
    { text: 'Machines beyond those paid in advance', quantity: '0.933333333333', unitPrice: '31', minor: 2_893 },
    { minor: -289 },
  ]);
  expect((await checkLedger(on.db)).problems).toEqual([]);
});

test('machines are paid in advance for each year, and those added later by the month', async () => {
  const on = await open('yearly');
  await on.until(startMs + hourMs);
  const year = ['year:2027-03', 119_400];
  expect(await on.listed()).toEqual([year]);
  expect(await on.lines('year:2027-03')).toMatchObject([
    { text: 'Annual fee of the tier yearly', minor: 10_000 },
    { text: 'Machines, in advance', quantity: '3', unit: 'machine-year', unitPrice: '365', minor: 109_500 },
    { text: 'Credit of the tier', minor: -100 },
  ]);
  await on.until(march.endMs + hourMs);
  await on.until(april.startMs + hourMs);
  on.machines = 4;
  await on.until(april.endMs - hourMs);
  on.machines = 1;
  await on.until(april.endMs + hourMs);
  const [, ...later] = await on.listed();
  // All but the first two hours of April. Each day costs a 366th part of a year of 366 days.
  expect(later).toEqual([['2027-04', Math.round((2_992 * 718) / 720)]]);
  await on.until(Date.UTC(2028, 1, 29, 23));
  expect(await on.listed()).toHaveLength(2);
  await on.until(Date.UTC(2028, 2, 1, 2));
  expect((await on.listed()).slice(2)).toEqual([['year:2028-03', 46_400]]);
  expect((await checkLedger(on.db)).problems).toEqual([]);
});

test('years begin with the month in which an organization joins such a tier, and missed ones are billed later', async () => {
  const on = await open('standard');
  await on.until(startMs + hourMs);
  const change = { billerId: on.billerId, tier: 'yearly', billingEmail: '' };
  await changeAccount(on.db, admin, 'admin.billing.assign', on.clock.now(), on.customerId, change);
  await on.until(march.endMs + hourMs);
  const periods = async () => (await on.listed()).map((row) => (row as string[])[0]);
  expect(await periods()).toEqual(['year:2027-04', '2027-03']);
  await on.until(Date.UTC(2028, 2, 31, 2));
  // The cloud does not run for two months.
  await on.until(Date.UTC(2028, 4, 30, 2));
  expect(await periods()).toEqual(['year:2027-04', '2027-03', 'year:2028-04']);
  const back = { ...change, tier: 'monthly' };
  await changeAccount(on.db, admin, 'admin.billing.assign', on.clock.now(), on.customerId, back);
  await on.until(Date.UTC(2029, 2, 1, 2));
  expect(await periods()).toHaveLength(3);
  await on.until(Date.UTC(2029, 3, 1, 2));
  expect((await periods()).slice(3)).toEqual(['advance:2029-04']);
});

test('the prices of the months of a year add up to the price of the year', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 10 ** 9 }), fc.integer({ min: 0, max: 47 }), (cents, index) => {
      const perMachineYear = `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`;
      const tier = { name: 'a', in_arrears: false, per_machine_per_year: perMachineYear };
      const { tiers: [parsed] = [], currency } = parsePriceList(JSON.stringify({ currency: 'USD', tiers: [tier] }));
      if (parsed === undefined) throw new Error('expected a tier');
      const paid = { period: 'year', month: monthOf(Date.UTC(2027, index)) } as const;
      const parts = monthsOf(paid).map((month) => laterLines(parsed, currency, month.hours, { paid, month }).subtotal);
      expect(parts).toHaveLength(12);
      expect(parts.reduce((sum, part) => sum + part, 0n)).toBe(BigInt(cents));
    }),
    { numRuns: 300 },
  );
  expect(monthsOf({ period: 'month', month: may })).toEqual([may]);
});
