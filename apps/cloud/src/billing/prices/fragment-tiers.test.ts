import { UsageCostType } from '@platform/proto/platform/app/v1/billing';
import { expect, test } from 'vitest';
import { hourOf, monthNamed } from '../month.ts';
import { billing, openBilling, prices, startMs } from '../testing/open-billing.ts';
import { changeAccount } from './accounts.ts';
import { tierOfBlock, withFragmentTiers } from './fragment-tiers.ts';
import { parsePriceList } from './price-list.ts';

const block = {
  ...{ tier_name: 'press', description: 'Presses', tier_credit: 5, in_arrears: true },
  cost_per_month: {
    ...{ per_machine: 10.5, binary_data_upload_bytes: 1.5e-10, tabular_data_egress_bytes: 0.0000000002 },
    ...{ logs_cloud_storage_bytes: 0, history_cloud_storage_bytes: 1e-9, logs_data_egress_bytes: 2e-9 },
  },
};

test('the billing block of a fragment is a tier, with prices per GB instead of per byte', () => {
  expect(tierOfBlock(block, 'billing')).toEqual({
    ...{ name: 'press', in_arrears: true, per_machine: '10.5', credit: '5' },
    usage: {
      BINARY_DATA_UPLOAD: { price: '0.15' },
      TABULAR_DATA_EGRESS: { price: '0.2' },
      LOGS_CLOUD_STORAGE: { price: '0' },
      CONFIG_HISTORY_CLOUD_STORAGE: { price: '1' },
      LOGS_EGRESS: { price: '2' },
    },
  });
  const priced = (per_machine: number) =>
    tierOfBlock({ ...block, cost_per_month: { per_machine } }, 'billing')['per_machine'];
  expect([0, 7, 1e3, 1e-12, 0.1, 1e11].map(priced)).toEqual([
    '0',
    '7',
    '1000',
    '0.000000000001',
    '0.1',
    '100000000000',
  ]);
});

test('a block without in_arrears is a tier whose machines are paid in advance, for months or for years', () => {
  const { in_arrears: _, ...rest } = block;
  const upfront = { ...rest, cost_per_month: { per_machine: 10.5, logs_cloud_storage_bytes: 0 } };
  const month = { name: 'press', in_arrears: false, per_machine: '10.5', credit: '5' };
  expect(tierOfBlock(upfront, 'billing')).toEqual(month);
  expect(tierOfBlock({ ...upfront, in_arrears: false }, 'billing')).toEqual(month);
  const { cost_per_month: __, ...yearly } = { ...upfront, cost_per_year: { per_machine: 99 } };
  const year = { name: 'press', in_arrears: false, per_machine_per_year: '99', credit: '5' };
  expect(tierOfBlock(yearly, 'billing')).toEqual(year);
  const tiers = [month, { ...year, name: 'a year' }];
  expect(parsePriceList(JSON.stringify({ currency: 'USD', tiers })).tiers.map(({ advance }) => advance)).toEqual([
    ...['month', 'year'],
  ]);
});

test('a block with prices that would not be charged as written is refused by its path', () => {
  const refused = (more: object, costs: object = {}): string => {
    try {
      tierOfBlock({ ...block, cost_per_month: { ...block.cost_per_month, ...costs }, ...more }, 'billing');
      return 'accepted';
    } catch (caught) {
      return String(caught);
    }
  };
  expect(refused({})).toBe('accepted');
  const perByte = 'binary_data_upload_bytes: expected 0 without in_arrears';
  expect(refused({ in_arrears: false })).toContain(perByte);
  expect(refused({ in_arrears: undefined })).toContain(perByte);
  expect(refused({ in_arrears: 1 })).toContain('billing.in_arrears: expected true or false');
  expect(refused({ cost_per_year: { per_machine: 1 } })).toContain('either cost_per_month or cost_per_year');
  expect(refused({ cost_per_month: undefined })).toContain('either cost_per_month or cost_per_year');
  const yearly = { cost_per_month: undefined, cost_per_year: { per_machine: 1 } };
  expect(refused(yearly)).toContain('billing.in_arrears: expected false');
  expect(refused({ ...yearly, in_arrears: false })).toBe('accepted');
  expect(refused({ ...yearly, in_arrears: false, cost_per_year: { logs_data_egress_bytes: 0 } })).toContain(
    'cost_per_year.logs_data_egress_bytes: expected one of per_machine',
  );
  expect(refused({ tier: 'x' })).toContain('billing.tier: expected one of cost_per_month');
  expect(refused({}, { per_machin: 1 })).toContain('billing.cost_per_month.per_machin: expected one of per_machine');
  for (const wrong of [-1, '1', Number.NaN, 1e-13, 1.0000000000001])
    expect(refused({}, { per_machine: wrong }), String(wrong)).toContain('per_machine: expected a number from 0');
});

test('a price list that names a fragment keeps its prices of that moment, and bills by them', async () => {
  let perMachine = 10;
  let revision = 1;
  const on = await openBilling({
    fragmentOf: async (organizationId, id, version) =>
      organizationId === on.billerId && id === 'f1' && ['', String(revision)].includes(version)
        ? {
            revision: String(revision),
            config: { components: [], billing: { ...block, cost_per_month: { per_machine: perMachine } } },
          }
        : undefined,
  });
  const set = (fragment: string) =>
    on.ask(on.owners.biller, prices.setPriceList, {
      organizationId: on.billerId,
      document: JSON.stringify({ currency: 'USD', tiers: [{ fragment }] }),
    });
  await expect(set('other')).rejects.toMatchObject({ code: 'not_found' });
  await expect(set('f1@7')).rejects.toMatchObject({ code: 'not_found' });
  const { priceList } = await set('f1');
  expect(JSON.parse(priceList?.document ?? '')).toMatchObject({
    tiers: [{ name: 'press', per_machine: '10', fragment: 'f1@1' }],
  });
  const change = { billerId: on.billerId, tier: 'press', billingEmail: '' };
  await changeAccount(on.db, { kind: 'admin', name: 'root' }, 'x', startMs, on.customerId, change);
  [perMachine, revision] = [99, 2];
  const quantity = Number(monthNamed('2027-03').hours) * 2;
  await on.db
    .insertInto('usage_hours')
    .values({
      ...{ organization_id: on.customerId, hour: hourOf(startMs + 3_600_000), type: UsageCostType.PER_MACHINE },
      quantity,
    })
    .execute();
  const usage = await on.ask(on.owners.customer, billing.getCurrentMonthUsage, { orgId: on.customerId });
  // Two machines, less the credit.
  expect(usage.subtotal).toBe(15);
  // A list that was read can be set again.
  const again = { organizationId: on.billerId, document: priceList?.document ?? '' };
  await on.ask(on.owners.biller, prices.setPriceList, again);
  expect((await set('f1@2')).priceList?.document).toContain('"per_machine":"99"');
});

test('documents without fragments, and those that are not price lists, do not change', async () => {
  const find = async () => undefined;
  for (const document of ['{', '[]', '{"tiers": 1}', '{"tiers": [{"name": "a", "fragment": "f1@2"}]}'])
    expect(await withFragmentTiers(document, find)).toBe(document);
});
