/**
 * The two minutes of D27 in real time, with a real cloud. Other tests check them with a virtual clock; this one takes three minutes and
 * runs only in `npm run fault -- billing`.
 */
import { errorText } from '@platform/base';
import { openCloud } from '@platform/sdk/cloud';
import { faultProgress, reportFault } from '@platform/testkit';
import { expect, test } from 'vitest';
import { openCommandLine } from '../cli/command-line.ts';
import { CloudUnderFire } from './cloud-under-load.ts';

const confirmedAfterSeconds = 130;
const document = JSON.stringify({
  currency: 'USD',
  tiers: [{ name: 'standard', in_arrears: true, per_machine: '10' }],
});

test('D27 the blocking call ends after 120 ± 1 s with DEADLINE_EXCEEDED and the invoice, which a later confirmation pays once', async () => {
  await using cloud = await CloudUnderFire.start({ PLATFORM_PAYMENT_PROVIDER: 'test' });
  const { organizationId } = cloud.demo;
  const owner = { keyId: String(cloud.ready['keyId']), key: String(cloud.ready['key']) };
  await using cli = await openCommandLine({
    ...{ PLATFORM_URL: cloud.url, PLATFORM_API_KEY_ID: owner.keyId, PLATFORM_API_KEY: owner.key },
    PLATFORM_ORGANIZATION: organizationId,
  });
  await using open = openCloud({ url: cloud.url, ...owner });
  const { id } = (await cli.ok(['organizations', 'create', 'Host', '--json'])).json<{ id: string }>();
  const billingAddress = { addressLine1: 'Mill Lane 1', city: 'Porto', zipcode: '4000', country: 'PT' };
  await open.app.enableBillingService({ orgId: id, billingAddress });
  await open.prices.setPriceList({ organizationId: id, document });
  const assign = ['admin', 'billing', 'assign', organizationId, '--biller', id, '--tier', 'standard'];
  await cli.ok([...assign, '--data', cloud.directory]);
  await cli.ok(['billing', 'method', 'set', 'confirms-late', '--after', String(confirmedAfterSeconds)]);
  faultProgress('two minutes', 0, 1);
  const beganMs = performance.now();
  const failed = await open.billing
    .createInvoiceAndChargeImmediately({ orgIdToCharge: organizationId, amount: 12.5, disableEmail: true })
    .then(
      () => undefined,
      (caught: unknown) => caught,
    );
  const tookMs = performance.now() - beganMs;
  const [invoice, ...others] = (await open.billing.getInvoicesSummary(organizationId)).invoices;
  expect([invoice?.status, others]).toEqual(['open', []]);
  expect(failed).toMatchObject({ code: 'deadline_exceeded' });
  expect(errorText(failed)).toContain(`invoice ${invoice?.id}: expected the payment to be confirmed within 2 minutes`);
  expect(Math.abs(tookMs - 120_000)).toBeLessThanOrEqual(1_000);
  const status = async () => (await open.billing.getInvoicesSummary(organizationId)).invoices.map((one) => one.status);
  await expect.poll(status).toEqual(['paid']);
  const paidAfterS = (performance.now() - beganMs) / 1_000;
  expect(paidAfterS).toBeGreaterThanOrEqual(confirmedAfterSeconds - 1);
  const checked = await cli.ok(['admin', 'check-ledger', '--json', '--data', cloud.directory]);
  expect(checked.json()).toMatchObject({ invoices: 1, lines: 4, problems: [] });
  faultProgress('two minutes', 1, 1);
  reportFault('two_minutes', { call_s: Number((tookMs / 1_000).toFixed(2)), paid_s: Math.round(paidAfterS) });
});
