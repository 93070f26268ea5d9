/** kill -9 of the cloud at random moments while organizations are charged: each request has one invoice, which is paid once. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { TestCard } from '@platform/proto/platform/billing/v1/billing';
import { type Cloud, openCloud } from '@platform/sdk/cloud';
import { faultProgress, reportFault } from '@platform/testkit';
import { expect, test } from 'vitest';
import { openCommandLine } from '../cli/command-line.ts';
import { CloudUnderFire, pauseMs, seededRandom } from './cloud-under-load.ts';
import { readFaultSettings } from './fault-settings.ts';

const { billingKills: kills, seed } = readFaultSettings();
const callers = 3;
const document = JSON.stringify({
  currency: 'USD',
  tiers: [{ name: 'standard', in_arrears: true, per_machine: '10' }],
});

interface Owner {
  readonly keyId: string;
  readonly key: string;
}

function cloudOf(cloud: CloudUnderFire, { keyId, key }: Owner): Cloud {
  return openCloud({ url: cloud.url, keyId, key, timeoutMs: 5_000 });
}

/** An organization that bills the one of the demo, which pays with a card that is confirmed a second later. */
async function prepare(cloud: CloudUnderFire, owner: Owner): Promise<void> {
  const { organizationId } = cloud.demo;
  const { keyId, key } = owner;
  await using cli = await openCommandLine({
    ...{ PLATFORM_URL: cloud.url, PLATFORM_API_KEY_ID: keyId, PLATFORM_API_KEY: key },
    PLATFORM_ORGANIZATION: organizationId,
  });
  const { id } = (await cli.ok(['organizations', 'create', 'Host', '--json'])).json<{ id: string }>();
  await using open = cloudOf(cloud, owner);
  const billingAddress = { addressLine1: 'Mill Lane 1', city: 'Porto', zipcode: '4000', country: 'PT' };
  await open.app.enableBillingService({ orgId: id, billingAddress });
  await open.prices.setPriceList({ organizationId: id, document });
  const data = ['--data', cloud.directory];
  await cli.ok(['admin', 'billing', 'assign', organizationId, '--biller', id, '--tier', 'standard', ...data]);
  const card = { card: TestCard.CONFIRMS_LATE, confirmAfterSeconds: 1 };
  await open.invoices.attachTestCard({ organizationId, ...card });
}

/** Charges with keys of its own, each until it is answered and once more. @returns what was answered, by key */
async function chargeUntil(
  cloud: CloudUnderFire,
  owner: Owner,
  name: string,
  over: () => boolean,
): Promise<Map<string, Set<string>>> {
  const answered = new Map<string, Set<string>>();
  const { organizationId: orgIdToCharge } = cloud.demo;
  await using open = cloudOf(cloud, owner);
  for (let nth = 0; !over(); nth++) {
    const idempotencyKey = `${name}-${nth}`;
    const ids = new Set<string>();
    answered.set(idempotencyKey, ids);
    for (let times = 0; times < 2; ) {
      const charge = { orgIdToCharge, subtotal: 10, tax: 1.9, disableConfirmationEmail: true };
      const answer = await open.billing.chargeOrganization(charge, { idempotencyKey }).catch(() => undefined);
      if (answer === undefined) await pauseMs(20);
      else {
        ids.add(answer.invoiceId);
        times++;
      }
    }
  }
  return answered;
}

test(
  `the cloud is killed ${kills} times while it charges: each request has one invoice, which is paid once`,
  async () => {
    await using cloud = await CloudUnderFire.start({ PLATFORM_PAYMENT_PROVIDER: 'test' });
    const owner = { keyId: String(cloud.ready['keyId']), key: String(cloud.ready['key']) };
    await prepare(cloud, owner);
    const random = seededRandom(seed);
    let over = false;
    const calls = Array.from({ length: callers }, (_, nth) => chargeUntil(cloud, owner, `caller${nth}`, () => over));
    for (let kill = 0; kill < kills; kill++) {
      await pauseMs(random(20, 1_500));
      await cloud.kill();
      await cloud.start();
      faultProgress('kills', kill + 1, kills);
    }
    await pauseMs(300);
    over = true;
    const answered = (await Promise.all(calls)).flatMap((one) => [...one.values()]);
    expect(answered.length).toBeGreaterThanOrEqual(callers);
    for (const ids of answered) expect(ids.size).toBe(1);
    await using open = cloudOf(cloud, owner);
    const summary = () => open.billing.getInvoicesSummary(cloud.demo.organizationId);
    await expect.poll(async () => (await summary()).outstandingBalance, { timeout: 120_000 }).toBe(0);
    const { invoices } = await summary();
    expect(invoices.map(({ id }) => id).toSorted()).toEqual(answered.flatMap((ids) => [...ids]).toSorted());
    expect(new Set(invoices.map(({ status }) => status))).toEqual(new Set(['paid']));
    await cloud.stop();
    using db = new DatabaseSync(join(cloud.directory, 'meta.sqlite'), { readOnly: true });
    const rows = db
      .prepare(`select invoice_id, count(*) as times from charges where state = 'succeeded' group by 1`)
      .all();
    expect(rows).toHaveLength(invoices.length);
    for (const { times } of rows) expect(times).toBe(1);
    await cloud.start();
    await using cli = await openCommandLine({});
    const checked = await cli.ok(['admin', 'check-ledger', '--json', '--data', cloud.directory]);
    expect(checked.json()).toMatchObject({ invoices: invoices.length, problems: [] });
    reportFault('billing_kills', { kills, requests: answered.length, invoices: invoices.length, charged_twice: 0 });
  },
  60_000 + kills * 20_000,
);
