/**
 * kill -9 of the cloud at random moments while organizations are charged through a Stripe that loses, repeats and reorders its messages:
 * each request has one invoice, which is paid once, and each mail has one Message-ID.
 */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type Cloud, openCloud } from '@platform/sdk/cloud';
import { faultProgress, reportFault, startSmtpSink } from '@platform/testkit';
import { expect, test } from 'vitest';
import { openCommandLine } from '../cli/command-line.ts';
import { CloudUnderFire, pauseMs, seededRandom } from './cloud-under-load.ts';
import { readFaultSettings } from './fault-settings.ts';
import { type StripeUnderFire, startStripeUnderFire } from './faulty-stripe.ts';

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

/** An organization that bills the demo's organization, which attaches a card whose payments are confirmed later. */
async function prepare(cloud: CloudUnderFire, owner: Owner, stripe: StripeUnderFire): Promise<void> {
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
  const tier = ['--biller', id, '--tier', 'standard', '--email', 'bills@example.com'];
  await cli.ok(['admin', 'billing', 'assign', organizationId, ...tier, ...data]);
  const begin = () => cli.ok(['billing', 'method', 'add', '--json']).catch(() => undefined);
  let page = await begin();
  while (page === undefined) page = await begin();
  stripe.far.complete(page.json<{ url: string }>().url, 'processing');
  stripe.start(cloud.url);
  const info = () => open.billing.getOrgBillingInformation(organizationId);
  await expect.poll(async () => (await info()).method?.lastFourDigits, { interval: 250 }).toBe('4242');
}

/** Charges with its own keys, each until it is answered, and then once more. @returns the answers, by key */
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
      const charge = { orgIdToCharge, subtotal: 10, tax: 1.9, disableConfirmationEmail: false };
      const answer = await open.billing.chargeOrganization(charge, { idempotencyKey }).catch(() => undefined);
      if (answer === undefined) await pauseMs(100);
      else {
        ids.add(answer.invoiceId);
        times++;
      }
    }
    // Each is an invoice with a document and a mail: a few for each kill suffice.
    await pauseMs(250);
  }
  return answered;
}

test(
  `the cloud is killed ${kills} times while it charges: each request has one invoice, which is paid once`,
  async () => {
    const random = seededRandom(seed);
    await using mail = await startSmtpSink();
    await using stripe = await startStripeUnderFire(random);
    const mailed = { PLATFORM_SMTP_URL: mail.url, PLATFORM_MAIL_FROM: 'cloud@example.com' };
    await using cloud = await CloudUnderFire.start({ ...stripe.env, ...mailed });
    const owner = { keyId: String(cloud.ready['keyId']), key: String(cloud.ready['key']) };
    await prepare(cloud, owner, stripe);
    let over = false;
    const calls = Array.from({ length: callers }, (_, nth) => chargeUntil(cloud, owner, `caller${nth}`, () => over));
    for (let kill = 0; kill < kills; kill++) {
      await pauseMs(random(20, 800));
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
    const settled = { timeout: 240_000 + kills * 6_000, interval: 500 };
    await expect.poll(async () => (await summary()).outstandingBalance, settled).toBe(0);
    const { invoices } = await summary();
    expect(invoices.map(({ id }) => id).toSorted()).toEqual(answered.flatMap((ids) => [...ids]).toSorted());
    expect(new Set(invoices.map(({ status }) => status))).toEqual(new Set(['paid']));
    const received = () => mail.mails.filter(({ headers }) => headers.get('subject')?.includes('Payment received'));
    const ids = (key: string) => new Set(received().map(({ headers }) => headers.get(key)));
    await expect.poll(() => ids('subject').size, settled).toBe(invoices.length);
    // A kill between the delivery and its record repeats a mail, under the same Message-ID.
    expect(ids('message-id').size).toBe(invoices.length);
    const paid = [...stripe.far.payments.values()];
    expect(paid.map(({ status }) => status).filter((status) => status !== 'succeeded')).toEqual([]);
    expect(paid.map(({ metadata }) => metadata['invoice']).toSorted()).toEqual(invoices.map(({ id }) => id).toSorted());
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
    reportFault('billing_kills', {
      ...{ kills, requests: answered.length, invoices: invoices.length, charged_twice: 0 },
      ...{ mails: received().length, message_ids: ids('message-id').size },
    });
  },
  60_000 + kills * 40_000,
);
