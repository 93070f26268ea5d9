import type { IncomingMessage, ServerResponse } from 'node:http';
import { fromBinary, toBinary } from '@bufbuild/protobuf';
import { AppService } from '@platform/proto/platform/app/v1/app';
import { expect, test } from 'vitest';
import { maxJsonDepth } from '../../wire/json-depth.ts';
import { openAccounts, type TestAccounts } from '../testing/open-accounts.ts';

const png = Buffer.concat([Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]), Buffer.alloc(100)]);
const jpeg = Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0xe0]), Buffer.alloc(100)]);

interface Served {
  readonly handled: boolean;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: unknown;
}

async function serve(accounts: TestAccounts['accounts'], url: string, method = 'GET'): Promise<Served> {
  const served = { headers: {}, body: undefined as unknown };
  const response = {
    writeHead: (_status: number, headers: Record<string, unknown>) => Object.assign(served.headers, headers),
    end: (body: unknown) => {
      served.body = body;
    },
  };
  const handled = await accounts.logoRoute(
    { url: url.replace('http://cloud.test', ''), method } as IncomingMessage,
    response as unknown as ServerResponse,
    new URL(url, 'http://cloud.test'),
  );
  return { handled, ...served };
}

test('a logo is served to anyone with its address, with its image type; each new logo gets a new address', async () => {
  const { accounts, ask, owner, key, organizationId: orgId, locationId } = await openAccounts();
  expect((await ask(owner, 'organizationGetLogo', { orgId })).url).toBe('');
  const addresses: string[] = [];
  for (const [logo, type] of [
    [png, 'image/png'],
    [jpeg, 'image/jpeg'],
  ] as const) {
    await ask(owner, 'organizationSetLogo', { orgId, logo });
    const { url } = await ask(await key('operator', { locationId }), 'organizationGetLogo', { orgId });
    const { handled, headers, body } = await serve(accounts, url);
    expect(handled).toBe(true);
    expect(headers).toMatchObject({
      'content-type': type,
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox",
    });
    expect(Buffer.from(body as Uint8Array).equals(logo)).toBe(true);
    expect((await serve(accounts, url, 'HEAD')).body).toBeUndefined();
    expect(url).not.toContain(orgId);
    addresses.push(url);
  }
  expect((await serve(accounts, addresses[0] ?? '')).handled).toBe(false);
  expect((await serve(accounts, '/logos/../../etc/passwd')).handled).toBe(false);
  await ask(owner, 'organizationSetLogo', { orgId, logo: new Uint8Array() });
  expect((await ask(owner, 'organizationGetLogo', { orgId })).url).toBe('');
  expect((await serve(accounts, addresses[1] ?? '')).handled).toBe(false);
});

test('a logo that is markup, not an image or over 200,000 bytes is refused, and the previous one stays', async () => {
  const { ask, owner, key, organizationId: orgId } = await openAccounts();
  await ask(owner, 'organizationSetLogo', { orgId, logo: png });
  const before = await ask(owner, 'organizationGetLogo', { orgId });
  const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>');
  for (const logo of [svg, Buffer.from('GIF89a'), Buffer.concat([png, Buffer.alloc(200_000)])])
    await expect(ask(owner, 'organizationSetLogo', { orgId, logo })).rejects.toMatchObject({
      code: 'invalid_argument',
    });
  await expect(ask(await key('operator'), 'organizationSetLogo', { orgId, logo: png })).rejects.toMatchObject({
    code: 'permission_denied',
  });
  expect(await ask(owner, 'organizationGetLogo', { orgId })).toEqual(before);
});

test('a support address is a single address, is visible to everyone who sees the organization, and can be removed', async () => {
  const { ask, owner, key, organizationId: orgId, locationId } = await openAccounts();
  await ask(owner, 'organizationSetSupportEmail', { orgId, email: ' Help@Example.com ' });
  const below = await key('operator', { locationId });
  expect((await ask(below, 'organizationGetSupportEmail', { orgId })).email).toBe('help@example.com');
  for (const email of ['nobody', 'a@b\r\nBcc: c@d', 'a@b, c@d', `${'a'.repeat(300)}@b`, '<a@b>'])
    await expect(ask(owner, 'organizationSetSupportEmail', { orgId, email })).rejects.toMatchObject({
      code: 'invalid_argument',
    });
  await expect(ask(below, 'organizationSetSupportEmail', { orgId, email: '' })).rejects.toMatchObject({
    code: 'permission_denied',
  });
  await ask(owner, 'organizationSetSupportEmail', { orgId, email: '' });
  expect((await ask(owner, 'organizationGetSupportEmail', { orgId })).email).toBe('');
});

test('only owners enable the billing service with an address, change, read and disable it', async () => {
  const { ask, owner, key, organizationId: orgId } = await openAccounts();
  const address = { addressLine1: 'Main St 1', city: 'Graz', state: '', zipcode: '8010', country: 'AT' };
  for (const name of ['updateBillingService', 'disableBillingService', 'getBillingServiceConfig'] as const)
    await expect(ask(owner, name, { orgId, billingAddress: address })).rejects.toMatchObject({
      code: 'failed_precondition',
    });
  await ask(owner, 'enableBillingService', { orgId, billingAddress: address });
  await expect(ask(owner, 'enableBillingService', { orgId, billingAddress: address })).rejects.toMatchObject({
    code: 'already_exists',
  });
  await ask(owner, 'organizationSetSupportEmail', { orgId, email: 'help@example.com' });
  await ask(owner, 'organizationSetLogo', { orgId, logo: png });
  await ask(owner, 'updateBillingService', { orgId, billingAddress: { ...address, addressLine2: 'Hall 2' } });
  const config = await ask(owner, 'getBillingServiceConfig', { orgId });
  expect(config).toMatchObject({
    billingAddress: { ...address, addressLine2: 'Hall 2' },
    supportEmail: 'help@example.com',
    logoUrl: expect.stringContaining('http://cloud.test/logos/'),
  });
  for (const wrong of [{ city: '' }, { country: 'A\nT' }, { zipcode: 'x'.repeat(10_000) }])
    await expect(
      ask(owner, 'updateBillingService', { orgId, billingAddress: { ...address, ...wrong } }),
    ).rejects.toThrow(/billing_address\./);
  await expect(ask(await key('operator'), 'getBillingServiceConfig', { orgId })).rejects.toMatchObject({
    code: 'permission_denied',
  });
  await ask(owner, 'disableBillingService', { orgId });
  await expect(ask(owner, 'getBillingServiceConfig', { orgId })).rejects.toThrow(
    /call EnableBillingService \(platform billing service enable\) first/,
  );
});

test('metadata is stored as written, replaced whole, readable by operators, and bounded in size and depth', async () => {
  const { ask, owner, key, organizationId, locationId } = await openAccounts();
  const data = { a: [1, null, { '<b>': '\u0000' }], __proto__: 'x', constructor: true };
  expect((await ask(owner, 'getLocationMetadata', { locationId })).data).toEqual({});
  await ask(owner, 'updateLocationMetadata', { locationId, data });
  await ask(owner, 'updateOrganizationMetadata', { organizationId, data: { other: 1 } });
  const operator = await key('operator');
  expect((await ask(operator, 'getLocationMetadata', { locationId })).data).toEqual(data);
  await ask(owner, 'updateLocationMetadata', { locationId, data: { b: 2 } });
  expect((await ask(operator, 'getLocationMetadata', { locationId })).data).toEqual({ b: 2 });
  expect((await ask(operator, 'getOrganizationMetadata', { organizationId })).data).toEqual({ other: 1 });
  const write = (written: object) =>
    ask(owner, 'updateOrganizationMetadata', { organizationId, data: written as Record<string, string> });
  await write({ big: 'x'.repeat(1024 * 1024 - 10) });
  await expect(write({ big: 'x'.repeat(1024 * 1024 - 9) })).rejects.toThrow(/at most 1048576 bytes .* found 1048577/);
  const nested = (depth: number): object => (depth === 0 ? {} : { deep: nested(depth - 1) });
  await expect(write(nested(maxJsonDepth + 1))).rejects.toThrow(/at most 30 levels deep/);
  await expect(write(nested(5_000))).rejects.toThrow(/at most 30 levels deep/);
  await write(nested(maxJsonDepth - 1));
  const { output } = AppService.method.getOrganizationMetadata;
  const answer = await ask(operator, 'getOrganizationMetadata', { organizationId });
  expect(fromBinary(output, toBinary(output, answer))).toEqual(answer);
  await expect(ask(operator, 'updateLocationMetadata', { locationId, data: {} })).rejects.toMatchObject({
    code: 'permission_denied',
  });
});
