/**
 * Billing with clients that share no code with ours: the public package reads, @grpc/grpc-js calls every operation; the command line does
 * the rest. One real cloud with the payment provider `test`.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as ours from '@platform/proto/platform/app/v1/billing';
import { openCloud, usageTypeName } from '@platform/sdk/cloud';
import { type SmtpSink, startSmtpSink } from '@platform/testkit';
import { billingApi } from '@viamrobotics/sdk';
import { serialize } from 'bson';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type CommandLine, openCommandLine } from './cli/command-line.ts';
import { Peer } from './clients/grpc-peer.ts';
import { signInPublicClient } from './clients/public-client.ts';
import { type CloudProcess, startCloud } from './start-cloud.ts';

let cloud: CloudProcess;
let cli: CommandLine;
let peer: Peer;
let billerId = '';
let mail: SmtpSink;

const priceList = {
  currency: 'USD',
  tax_percent: '19',
  tiers: [{ name: 'standard', in_arrears: true, per_machine: '10', usage: { TABULAR_DATA_UPLOAD: { price: '0.15' } } }],
};

beforeAll(async () => {
  mail = await startSmtpSink();
  const mailed = { PLATFORM_SMTP_URL: mail.url, PLATFORM_MAIL_FROM: 'cloud@example.com' };
  cloud = await startCloud({ PLATFORM_PAYMENT_PROVIDER: 'test', ...mailed });
  const { url: PLATFORM_URL, keyId: PLATFORM_API_KEY_ID, key: PLATFORM_API_KEY, organizationId } = cloud;
  cli = await openCommandLine({
    PLATFORM_URL,
    PLATFORM_API_KEY_ID,
    PLATFORM_API_KEY,
    PLATFORM_ORGANIZATION: organizationId,
  });
  peer = await new Peer(cloud.target).signIn(cloud.keyId, 'api-key', cloud.key);
  billerId = (await cli.ok(['organizations', 'create', 'Host', '--json'])).json<{ id: string }>().id;
  const billing_address = { address_line_1: 'Mill Lane 1', city: 'Porto', zipcode: '4000', country: 'PT' };
  await peer.call('platform.app.v1.AppService', 'EnableBillingService', { org_id: billerId, billing_address });
  writeFileSync(join(cli.directory, 'prices.json'), JSON.stringify(priceList));
});
afterAll(async () => {
  peer[Symbol.dispose]();
  await cli[Symbol.asyncDispose]();
  await cloud[Symbol.asyncDispose]();
  await mail[Symbol.asyncDispose]();
});

const ask = (operation: string, request: object) => peer.call('platform.app.v1.BillingService', operation, request);

test('every message and enum of the public package has our fields with the same numbers and names', () => {
  let compared = 0;
  const messages = new Map(
    ours.file_platform_app_v1_billing.messages.map((one) => [one.typeName.replace('platform.', 'viam.'), one]),
  );
  for (const type of Object.values(billingApi)) {
    const typeName: unknown = Reflect.get(Object(type), 'typeName');
    if (typeof type !== 'function' || typeof typeName !== 'string') continue;
    const own = messages.get(typeName);
    expect(own, typeName).toBeDefined();
    for (const { no, name } of Reflect.get(Object(type), 'fields').list()) {
      expect(own?.fields.find(({ number }) => number === no)?.name, `${typeName} field ${no}`).toBe(name);
      compared++;
    }
  }
  for (const own of ours.file_platform_app_v1_billing.enums)
    for (const { localName, number } of own.values) {
      const theirs: unknown = Reflect.get(Object(Reflect.get(billingApi, own.name)), localName);
      if (theirs !== undefined) expect(theirs, `${own.name}.${localName}`).toBe(number);
    }
  expect(compared).toBeGreaterThan(60);
});

test('an organization is billed by another one: prices, tier, usage and invoices, with the public package and the command line', async () => {
  const org_id = cloud.organizationId;
  const { billingClient } = await signInPublicClient(cloud);
  await expect(billingClient.getCurrentMonthUsage(org_id)).rejects.toMatchObject({ code: 9 });
  await cli.ok(['billing', 'prices', 'set', 'prices.json', '--organization', billerId]);
  const data = ['--data', cloud.dataDir];
  const address = ['--email', 'bills@example.com'];
  await cli.ok(['admin', 'billing', 'assign', org_id, '--biller', billerId, '--tier', 'standard', ...address, ...data]);
  expect((await cli.ok(['billing', 'info', '--json'])).json()).toMatchObject({
    ...{ tier: 'standard', currency: 'USD' },
    payment_method: null,
  });
  expect(await billingClient.getCurrentMonthUsage(org_id)).toMatchObject({ subtotal: expect.any(Number) });
  expect((await cli.ok(['billing', 'usage', '--json'])).json()).toMatchObject({ tier: 'standard', currency: 'USD' });
  expect(await ask('GetAvailableBillingTiers', {})).toEqual({ tiers: ['standard'] });

  await cli.ok(['billing', 'method', 'set', 'succeeds']);
  const charged = await cli.ok(['billing', 'charge', '12.50', '--description', 'Set-up', '--wait', '--yes', '--json']);
  const { invoice_id, ...rest } = charged.json<{ invoice_id: string }>();
  expect(rest).toEqual({ amount: 12.5, tax: 0, currency: 'USD' });
  const equal = await cli.run(['billing', 'charge', '12.50', '--description', 'Set-up', '--wait', '--yes']);
  expect(equal.stderr).toContain(`invoice ${invoice_id}: expected no equal charge`);
  await cli.ok(['billing', 'method', 'set', 'declines']);
  expect((await cli.run(['billing', 'charge', '3', '--wait', '--yes'])).stderr).toContain('declined');
  await cli.ok(['billing', 'method', 'delete', '--yes']);
  await using sdk = openCloud({ url: cloud.url, keyId: cloud.keyId, key: cloud.key });
  const charge = { orgIdToCharge: org_id, subtotal: 10, tax: 1.9, disableConfirmationEmail: true };
  const [first, again] = [
    await sdk.billing.chargeOrganization(charge, { idempotencyKey: 'one', timeout: 200 }),
    await sdk.billing.chargeOrganization(charge, { idempotencyKey: 'one' }),
  ];
  expect(again).toEqual(first);
  const { invoices, outstandingBalance } = await billingClient.getInvoicesSummary(org_id);
  expect(invoices.map(({ status }: { status: string }) => status)).toEqual(['open', 'open', 'paid']);
  expect([outstandingBalance, invoices[2]?.id, invoices[2]?.invoiceAmount]).toEqual([14.9, invoice_id, 12.5]);
  const paid = await cli.ok([
    'admin',
    'payments',
    'record',
    first.invoiceId,
    '11.90',
    '--reference',
    't-1',
    '--json',
    ...data,
  ]);
  expect(paid.json()).toMatchObject({ state: 'paid', open: '0.00' });
  const listed = (await cli.ok(['billing', 'invoices', '--json'])).json<{ currency: string }[]>();
  expect(listed.map(({ currency }) => currency)).toEqual(['USD', 'USD', 'USD']);
  const saved = await cli.ok(['billing', 'pdf', invoice_id, 'set-up.pdf', '--json']);
  const file = join(cli.directory, 'set-up.pdf');
  expect(saved.json()).toEqual({ file: 'set-up.pdf', bytes: readFileSync(file).length });
  // One for the payment, and one for the declined card; the other charge is quiet.
  const [confirmation] = await mail.waitFor(2);
  expect(confirmation).toMatchObject({
    ...{ to: ['bills@example.com'], text: expect.stringMatching(/Set-up: 12\.50 USD[\s\S]*Total: 12\.50 USD/) },
    attachments: [{ filename: 'TEST-000001.pdf', type: 'application/pdf', content: readFileSync(file) }],
  });
  expect(confirmation?.headers.get('from')).toBe('Host <cloud@example.com>');
  expect((await cli.run(['billing', 'pdf', invoice_id, 'set-up.pdf'])).stderr).toContain('does not exist');
  for (const [dest, said] of [
    ['.', 'found the directory'],
    ['missing/set-up.pdf', 'a folder that exists'],
    ['set-up.pdf/a.pdf', 'a folder that exists'],
  ] as const)
    expect((await cli.run(['billing', 'pdf', invoice_id, dest, '--overwrite'])).stderr).toContain(said);
  const unknown = await cli.run(['billing', 'pdf', '00000000-0000-4000-8000-000000000001', 'no.pdf']);
  expect(unknown.stderr).toMatch(/^platform billing pdf: invoice "[^"]+": expected one of the organization[^\n]*\n$/);
  expect(readdirSync(cli.directory).filter((name) => name.includes('pdf') || name.startsWith('.'))).toEqual([
    'set-up.pdf',
  ]);
  await sdk.billing.getInvoicePdf(invoice_id, org_id, join(cli.directory, 'again.pdf'), { timeout: 200 });
  expect(readFileSync(join(cli.directory, 'again.pdf')).equals(readFileSync(file))).toBe(true);
  const read = await billingClient.getInvoicePdf(invoice_id, org_id);
  expect(Buffer.from(read).equals(readFileSync(file))).toBe(true);
  const chunks = [];
  for await (const { chunk } of peer.stream('platform.app.v1.BillingService', 'GetInvoicePdf', {
    id: invoice_id,
    org_id,
  }))
    chunks.push(chunk);
  expect(Buffer.concat(chunks).equals(readFileSync(file))).toBe(true);
  expect((await cli.ok(['admin', 'check-ledger', '--json', ...data])).json()).toMatchObject({
    invoices: 3,
    problems: [],
  });
  const month = new Date().toISOString().slice(0, 7);
  expect((await cli.run(['billing', 'close-month', month, '--organization', billerId])).stderr).toContain('has ended');
  await cli.ok(['billing', 'simulate']);
});

test('D44 where the price list is not in dollars, the command line names its currency before and after a charge', async () => {
  const host = (await cli.ok(['organizations', 'create', 'Euro host', '--json'])).json<{ id: string }>().id;
  const customer = (await cli.ok(['organizations', 'create', 'Customer', '--json'])).json<{ id: string }>().id;
  const billing_address = { address_line_1: 'Mill Lane 1', city: 'Porto', zipcode: '4000', country: 'PT' };
  await peer.call('platform.app.v1.AppService', 'EnableBillingService', { org_id: host, billing_address });
  writeFileSync(join(cli.directory, 'euros.json'), JSON.stringify({ ...priceList, currency: 'EUR' }));
  await cli.ok(['billing', 'prices', 'set', 'euros.json', '--organization', host]);
  const assign = ['admin', 'billing', 'assign', customer, '--biller', host, '--tier', 'standard'];
  await cli.ok([...assign, '--email', 'customer@example.com', '--data', cloud.dataDir]);

  const charge = ['billing', 'charge', '12.50', '--tax', '2.38', '--no-email', '--organization', customer];
  const unconfirmed = await cli.run(charge);
  expect(unconfirmed.code).not.toBe(0);
  expect(unconfirmed.stderr).toContain('Charge the organization "Customer" 12.50 EUR and 2.38 EUR of tax?');
  expect((await cli.ok([...charge, '--yes', '--json'])).json()).toEqual({
    ...{ invoice_id: expect.stringMatching(/^[0-9a-f-]{36}$/), amount: 12.5, tax: 2.38, currency: 'EUR' },
  });
});

test('grpc-js calls every operation, and calls about other organizations are refused', async () => {
  const [org_id, unknown] = [cloud.organizationId, '00000000-0000-4000-8000-000000000001'];
  expect(await ask('GetOrgBillingInformation', { org_id })).toMatchObject({ billing_tier: 'standard' });
  expect(await ask('GetLocationBillingOrganization', { location_id: cloud.locationId })).toEqual({
    billing_organization_id: org_id,
  });
  await ask('UpdateLocationBillingOrganization', { location_id: cloud.locationId, billing_organization_id: org_id });
  await ask('UpdateOrganizationBillingTier', { organization_id: org_id, billing_tier: 'standard' });
  await ask('ChargeOrganization', { org_id_to_charge: org_id, subtotal: 1, tax: 0 });
  await ask('SendPaymentRequiredEmail', { customer_org_id: org_id, billing_owner_org_id: billerId });
  const refused: readonly [string, object, number][] = [
    ['GetCurrentMonthUsage', { org_id: unknown }, 5],
    ['GetInvoicesSummary', { org_id: unknown }, 5],
    ['ChargeOrganization', { org_id_to_charge: unknown, subtotal: 1 }, 5],
    ['ChargeOrganization', { org_id_to_charge: org_id, subtotal: 1.005 }, 3],
    ['CreateInvoiceAndChargeImmediately', { org_id_to_charge: org_id, amount: 1 }, 9],
    ['SendPaymentRequiredEmail', { customer_org_id: billerId, billing_owner_org_id: org_id }, 9],
    ['UpdateOrganizationBillingTier', { organization_id: org_id, billing_tier: 'gold' }, 3],
  ];
  for (const [operation, request, code] of refused)
    await expect(ask(operation, request), operation).rejects.toMatchObject({ code });
});

test('rows returned by queries, bytes processed by them, and downloads are metered to the byte', async () => {
  const [org_id, sync, service] = [
    cloud.organizationId,
    'platform.app.datasync.v1.DataSyncService',
    'platform.app.data.v1.DataService',
  ];
  await using sdk = openCloud({ url: cloud.url, keyId: cloud.keyId, key: cloud.key });
  const used = async (): Promise<Record<string, number>> => {
    const { records } = await sdk.prices.listUsage({ organizationId: org_id });
    const sums: Record<string, number> = {};
    for (const { type, quantity } of records)
      sums[usageTypeName(type)] = (sums[usageTypeName(type)] ?? 0) + Number(quantity);
    return sums;
  };
  const common = { part_id: cloud.partId, component_type: 'core:component:sensor', component_name: 'metered' };
  const time = { seconds: Math.floor(Date.now() / 1_000) };
  await peer.call(sync, 'DataCaptureUpload', {
    metadata: { ...common, method_name: 'Readings', type: 'DATA_TYPE_TABULAR_SENSOR', file_extension: '.dat' },
    sensor_contents: Array.from({ length: 50 }, (_, value) => ({
      metadata: { time_requested: time, time_received: time },
      struct: { fields: { value: { numberValue: value } } },
    })),
  });
  const { binary_data_id: id } = await peer.send(sync, 'FileUpload', [
    { metadata: { ...common, type: 'DATA_TYPE_FILE', file_name: 'notes.txt', file_extension: '.txt' } },
    { file_contents: { data: Buffer.alloc(20_000, 'notes') } },
  ]);
  const before = await used();
  const { raw_data: rows } = await peer.call(service, 'TabularDataByMQL', {
    organization_id: org_id,
    mql_binary: [serialize({ $match: { component_name: 'metered' } })],
  });
  await peer.call(service, 'BinaryDataByIDs', { binary_data_ids: [id], include_binary: true });
  const { signed_url: url } = await peer.call(service, 'CreateBinaryDataSignedURL', { binary_data_id: id });
  const part = await fetch(String(url), { headers: { range: 'bytes=100-299' } });
  expect((await part.arrayBuffer()).byteLength).toBe(200);
  const bytes = (rows as Buffer[]).reduce((sum, row) => sum + row.length, 0);
  expect([(rows as Buffer[]).length, bytes > 5_000]).toEqual([50, true]);
  const more = async (name: string) => ((await used())[name] ?? 0) - (before[name] ?? 0);
  await expect.poll(() => more('BINARY_DATA_EGRESS')).toBe(20_200);
  expect(await more('TABULAR_DATA_EGRESS')).toBe(bytes);
  expect(await more('TABULAR_DATA_DATABASE_COMPUTE')).toBeGreaterThan(0);
});

test('a price list takes the prices of a tier from a fragment of the organization that bills, in its revision at that time', async () => {
  await using sdk = openCloud({ url: cloud.url, keyId: cloud.keyId, key: cloud.key });
  const billing = {
    tier_name: 'press',
    in_arrears: true,
    cost_per_month: { per_machine: 12, binary_data_upload_bytes: 1.5e-10 },
  };
  const made = { name: 'Press', config: { components: [], billing }, organizationId: billerId };
  const { fragment } = await sdk.app.createFragment(made);
  const foreign = await sdk.app.createFragment({ ...made, organizationId: cloud.organizationId });
  const set = (id = '') =>
    sdk.prices.setPriceList({
      organizationId: billerId,
      document: JSON.stringify({ ...priceList, tiers: [...priceList.tiers, { fragment: id }] }),
    });
  await expect(set(foreign.fragment?.id)).rejects.toMatchObject({ code: 'not_found' });
  const { priceList: version } = await set(fragment?.id);
  expect(JSON.parse(version?.document ?? '').tiers[1]).toEqual({
    ...{ name: 'press', in_arrears: true, per_machine: '12', credit: '0', fragment: `${fragment?.id}@1` },
    usage: { BINARY_DATA_UPLOAD: { price: '0.15' } },
  });
});
