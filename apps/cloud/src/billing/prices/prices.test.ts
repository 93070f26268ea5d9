import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { UsageCostType } from '@platform/proto/platform/app/v1/billing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { usageNames } from '../meter/usage-types.ts';
import { decimalOf, one } from '../money/decimal.ts';
import { hourOf, monthNamed } from '../month.ts';
import { billing, openBilling, prices, startMs, type TestBilling } from '../testing/open-billing.ts';
import { changeAccount } from './accounts.ts';
import { parsePriceList } from './price-list.ts';
import { rate } from './rate.ts';

const march = monthNamed('2027-03');
const admin = { kind: 'admin', name: 'root' } as const;

function document(tier: object = {}, list: object = {}): string {
  const standard = { name: 'standard', in_arrears: true, per_machine: '10', ...tier };
  return JSON.stringify({
    currency: 'USD',
    tiers: [standard, { name: 'yearly', in_arrears: false, annual_fee: '1200' }],
    ...list,
  });
}

const tierOf = (text: string) => {
  const { tiers, currency } = parsePriceList(text);
  if (tiers[0] === undefined) throw new Error('expected a tier');
  return { tier: tiers[0], currency };
};

/** Sets a price list and bills the customer on a tier. */
async function bill(on: TestBilling, tier = 'standard', text = document()): Promise<void> {
  await on.ask(on.owners.biller, prices.setPriceList, { organizationId: on.billerId, document: text });
  const change = { billerId: on.billerId, tier, billingEmail: 'bills@example.com' };
  await changeAccount(on.db, admin, 'admin.billing.assign', on.clock.now(), on.customerId, change);
}

function use(on: TestBilling, type: UsageCostType, quantity: number, ms = startMs + 3_600_000) {
  return on.db
    .insertInto('usage_hours')
    .values({ organization_id: on.customerId, hour: hourOf(ms), type, quantity })
    .execute();
}

test('steps, discount, credit and minimum are applied in this order, each rounded once', () => {
  const { tier, currency } = tierOf(
    document({
      usage: {
        BINARY_DATA_UPLOAD: { steps: [{ up_to: '1', price: '0' }, { up_to: '10', price: '0.155' }, { price: '0.1' }] },
      },
      ...{ discount_percent: '12.5', credit: '5', minimum: '30' },
    }),
  );
  const usage = new Map([
    ['BINARY_DATA_UPLOAD', 20_000_000_000n],
    ['PER_MACHINE', 2n * march.hours + march.hours / 2n],
  ] as const);
  const rated = rate(usage, tier, currency, march.hours);
  expect(
    rated.lines.map(({ kind, quantity, unit, unitPrice, minor }) => [kind, quantity, unit, unitPrice, minor]),
  ).toEqual([
    ['usage', '2.5', 'machine-month', '10', 2_500n],
    // 9 × 0.155 = 1.395, half away from zero
    ['usage', '9', 'GB', '0.155', 140n],
    ['usage', '10', 'GB', '0.1', 100n],
    // 12.5 % of 27.40 = 3.425
    ['discount', '', '', '', -343n],
    ['credit', '', '', '', -500n],
    ['minimum', '', '', '', 1_103n],
  ]);
  expect([rated.subtotal, rated.beforeDiscount, rated.discount]).toEqual([3_000n, 2_740n, 843n]);
});

test('lines add up to the subtotal, which is never negative, for any usage and prices', () => {
  const decimal = fc.nat(1_000_000).map((value) => (value / 10_000).toFixed(4));
  const percent = fc.nat(10_000).map((value) => (value / 100).toFixed(2));
  const tier = fc.record({
    usage: fc.dictionary(
      fc.constantFrom(...usageNames.filter((name) => name !== 'PER_MACHINE')),
      fc.record({ price: decimal, free: decimal }),
    ),
    ...{ discount_percent: percent, credit: decimal, minimum: decimal },
  });
  const used = fc.dictionary(fc.constantFrom(...usageNames), fc.bigInt(0n, 10n ** 16n));
  fc.assert(
    fc.property(tier, used, (given, amounts) => {
      const { tier: parsed, currency } = tierOf(document(given));
      const usage = new Map(Object.entries(amounts)) as never;
      const { lines, subtotal, beforeDiscount, discount } = rate(usage, parsed, currency, march.hours);
      expect(lines.reduce((sum, { minor }) => sum + minor, 0n)).toBe(subtotal);
      expect(subtotal).toBeGreaterThanOrEqual(0n);
      expect(beforeDiscount - discount).toBeGreaterThanOrEqual(0n);
    }),
    { numRuns: 1_000 },
  );
});

test('parts of an amount of usage, by steps, add up to the whole, with a price difference of at most half a minor unit each', () => {
  const limits = fc.uniqueArray(fc.integer({ min: 1, max: 1_000 }), { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(limits, fc.bigInt(1n, 10n ** 15n), fc.integer({ min: 1, max: 99 }), (given, bytes, cents) => {
      const price = `0.${String(cents).padStart(2, '0')}`;
      const steps = [...given.toSorted((a, b) => a - b).map((end) => ({ up_to: String(end), price })), { price }];
      const rated = (logs: object) => {
        const { tier, currency } = tierOf(document({ per_machine: undefined, usage: { LOGS_UPLOAD: logs } }));
        return rate(new Map([['LOGS_UPLOAD', bytes]]), tier, currency, march.hours);
      };
      const parts = rated({ steps }).lines;
      const quantities = parts.map(({ quantity }) => decimalOf(quantity, 'quantity'));
      expect(quantities.reduce((sum, part) => sum + part, 0n)).toBe((bytes * one) / 1_000_000_000n);
      const off = Number(rated({ steps }).subtotal - rated({ price }).subtotal);
      expect(Math.abs(off)).toBeLessThanOrEqual(parts.length / 2 + 0.5);
    }),
    { numRuns: 500 },
  );
});

test('a wrong price list is refused with the path of its problem', () => {
  const refused = (text: string): string => {
    try {
      parsePriceList(text);
      return 'accepted';
    } catch (caught) {
      return String(caught);
    }
  };
  expect(refused('{')).toContain('document: expected JSON');
  expect(refused(document({ per_machin: '1' }))).toContain('tiers[0].per_machin: expected one of name, in_arrears');
  expect(refused(document({ per_machine: 10 }))).toContain('tiers[0].per_machine: expected a decimal number as text');
  expect(refused(document({ per_machine: '-1' }))).toContain('not negative');
  expect(refused(document({ usage: { DATA_UPLOAD: { price: '1' } } }))).toContain(
    'tiers[0].usage.DATA_UPLOAD: expected one of',
  );
  expect(refused(document({ usage: { LOGS_UPLOAD: { steps: [{ price: '1', up_to: '2' }] } } }))).toContain(
    'the last step has no end',
  );
  expect(refused(document({ discount_percent: '101' }))).toContain('at most 100');
  expect(refused(document({ annual_fee: '1' }))).toContain('tiers[0].annual_fee: expected none');
  expect(refused(document({ in_arrears: false, per_machine: undefined }))).toContain(
    'tiers[0].annual_fee: expected annual_fee and per_machine_per_year, or per_machine',
  );
  expect(refused(document({}, { currency: 'XXX' }))).toContain('currency: expected the code of a currency');
  expect(refused(document({}, { tiers: [] }))).toContain('tiers: expected a list of 1 to 50');
  expect(refused(document({ name: 'yearly' }))).toContain('a name that no other tier has');
  expect(refused(document())).toBe('accepted');
});

test('D28 usage of an organization that is not billed in arrears is refused, and the refusal states how it is billed', async () => {
  const on = await openBilling();
  const ask = () => on.ask(on.owners.customer, billing.getCurrentMonthUsage, { orgId: on.customerId });
  await expect(ask()).rejects.toMatchObject({
    code: 'failed_precondition',
    message: expect.stringContaining('no one bills it'),
  });
  await bill(on, 'yearly');
  await expect(ask()).rejects.toMatchObject({
    code: 'failed_precondition',
    message: expect.stringContaining('annually, in advance, on the tier "yearly"'),
  });
});

test('the usage of the current month has its costs by type, and in the fields that older clients read', async () => {
  const on = await openBilling();
  const tier = { usage: { BINARY_DATA_UPLOAD: { price: '0.5' } }, discount_percent: '10' };
  await bill(on, 'standard', document(tier, { currency: 'EUR' }));
  await use(on, UsageCostType.BINARY_DATA_UPLOAD, 4_000_000_000);
  await use(on, UsageCostType.PER_MACHINE, Number(march.hours));
  // Before billing began, and in the next month.
  await use(on, UsageCostType.PER_MACHINE, 1_000_000, startMs);
  await use(on, UsageCostType.PER_MACHINE, 1_000_000, march.endMs);
  expect(await on.ask(on.owners.customer, billing.getCurrentMonthUsage, { orgId: on.customerId })).toMatchObject({
    startDate: timestampFromMs(march.startMs),
    endDate: timestampFromMs(march.endMs),
    ...{ subtotal: 10.8, currency: 'EUR' },
    resourceUsageCostsBySource: [
      {
        tierName: 'standard',
        resourceUsageCosts: {
          usageCosts: [
            { resourceType: UsageCostType.PER_MACHINE, cost: 10 },
            { resourceType: UsageCostType.BINARY_DATA_UPLOAD, cost: 2 },
          ],
          ...{ discount: 1.2, totalWithDiscount: 10.8, totalWithoutDiscount: 12 },
        },
      },
    ],
    ...{ dataUploadUsageCost: 2, perMachineUsageCost: 10, discountAmount: 1.2, totalUsageWithDiscount: 10.8 },
  });
  expect(await on.ask(on.owners.customer, billing.getOrgBillingInformation, { orgId: on.customerId })).toMatchObject({
    ...{ billingTier: 'standard', billingEmail: 'bills@example.com', currency: 'EUR', paymentProvider: 'manual' },
  });
  expect(await on.ask(on.owners.customer, billing.getAvailableBillingTiers, {})).toMatchObject({
    tiers: ['standard', 'yearly'],
  });
  expect(await on.ask(on.owners.customer, prices.simulateInvoice, { organizationId: on.customerId })).toMatchObject({
    ...{ currency: 'EUR', tierName: 'standard', subtotal: '10.80', priceListVersion: 1 },
    lines: [{ amount: '10.00' }, { amount: '2.00' }, { amount: '-1.20' }],
  });
});

test('only owners of the biller can change a tier, effective from the next month', async () => {
  const on = await openBilling();
  const change = { organizationId: on.customerId, billingTier: 'yearly' };
  const ask = (who: TestBilling['owners']['biller'], request = change) =>
    on.ask(who, billing.updateOrganizationBillingTier, request);
  await expect(ask(on.owners.biller)).rejects.toMatchObject({ code: 'not_found' });
  await expect(ask(on.owners.customer)).rejects.toMatchObject({ code: 'failed_precondition' });
  await bill(on);
  await expect(ask(on.owners.customer)).rejects.toMatchObject({ code: 'permission_denied' });
  await expect(ask(on.owners.biller, { ...change, billingTier: 'gold' })).rejects.toMatchObject({
    ...{ code: 'invalid_argument', message: expect.stringContaining('expected one of standard, yearly') },
  });
  await ask(on.owners.biller);
  const tier = async () =>
    (await on.ask(on.owners.customer, billing.getOrgBillingInformation, { orgId: on.customerId })).billingTier;
  expect(await tier()).toBe('standard');
  on.clock.setWall(march.endMs);
  expect(await tier()).toBe('yearly');
});

test('price lists have versions that apply from the beginning of a month, keep tiers in use, and are audited', async () => {
  const on = await openBilling();
  const set = (text: string, effectiveMs?: number) =>
    on.ask(on.owners.biller, prices.setPriceList, {
      organizationId: on.billerId,
      document: text,
      ...(effectiveMs !== undefined && { effectiveAt: timestampFromMs(effectiveMs) }),
    });
  await bill(on);
  await expect(set(document({ name: 'other' }))).rejects.toMatchObject({ code: 'failed_precondition' });
  await expect(set(document(), startMs + 1)).rejects.toMatchObject({ code: 'invalid_argument' });
  await expect(set(document(), march.startMs)).rejects.toMatchObject({ code: 'invalid_argument' });
  await expect(set(document({}, { currency: 'EUR' }))).rejects.toMatchObject({ code: 'failed_precondition' });
  await set(document({ per_machine: '20' }));
  const { priceLists } = await on.ask(on.owners.biller, prices.listPriceLists, { organizationId: on.billerId });
  expect(priceLists.map(({ version, effectiveAt }) => [version, effectiveAt])).toEqual([
    [2, timestampFromMs(march.endMs)],
    [1, timestampFromMs(startMs)],
  ]);
  await use(on, UsageCostType.PER_MACHINE, Number(march.hours));
  await use(on, UsageCostType.PER_MACHINE, 720, march.endMs);
  const cost = async () =>
    (await on.ask(on.owners.customer, billing.getCurrentMonthUsage, { orgId: on.customerId })).subtotal;
  expect(await cost()).toBe(10);
  on.clock.setWall(march.endMs + 1);
  expect(await cost()).toBe(20);
  const audited = await on.db.selectFrom('audit_entries').select(['action', 'organization_id']).execute();
  expect(audited.map(({ action }) => action)).toEqual(
    expect.arrayContaining(['PriceService.SetPriceList', 'admin.billing.assign']),
  );
});

test('only organizations whose billing service is enabled have prices, and only their owners', async () => {
  const on = await openBilling();
  const request = { organizationId: on.customerId, document: document() };
  await expect(on.ask(on.owners.customer, prices.setPriceList, request)).rejects.toMatchObject({
    code: 'failed_precondition',
  });
  await expect(on.ask(on.owners.biller, prices.setPriceList, request)).rejects.toMatchObject({ code: 'not_found' });
});
