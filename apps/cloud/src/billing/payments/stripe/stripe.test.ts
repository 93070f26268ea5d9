import { type FakeStripe, startFakeStripe } from '@platform/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { checkLedger } from '../../ledger/check-ledger.ts';
import { billing, invoices, openBilling, type TestBilling } from '../../testing/open-billing.ts';
import { billStandard } from '../../testing/open-charges.ts';
import { readPaymentSettings } from '../settings.ts';
import { createStripeProvider } from './stripe-provider.ts';

const { signal } = new AbortController();
const hourMs = 3_600_000;

interface Stripe extends TestBilling {
  readonly far: FakeStripe;
  settle(afterMs?: number): Promise<void>;
  /** Delivers the pending events to the cloud, in this order. */
  deliver(
    order?: (events: ReturnType<FakeStripe['takeEvents']>) => ReturnType<FakeStripe['takeEvents']>,
  ): Promise<void>;
}

async function open(currency = 'USD'): Promise<Stripe> {
  const far = await startFakeStripe();
  onTestFinished(() => far[Symbol.asyncDispose]());
  const settings = readPaymentSettings({
    ...{ PLATFORM_PAYMENT_PROVIDER: 'stripe', PLATFORM_STRIPE_API_URL: far.url },
    ...{ PLATFORM_STRIPE_SECRET_KEY: far.secretKey, PLATFORM_STRIPE_WEBHOOK_SECRET: far.webhookSecret },
  });
  if (settings.provider !== 'stripe') throw new Error('expected stripe');
  const on = await openBilling({ provider: createStripeProvider(settings) });
  far.setClock(() => on.clock.now());
  await billStandard(on, { currency });
  return {
    ...on,
    far,
    async settle(afterMs = 0) {
      on.clock.setWall(on.clock.now() + afterMs);
      while (await on.billing.jobs.settle(signal));
    },
    async deliver(order = (events) => events) {
      for (const { body, signature } of order(far.takeEvents()))
        await on.billing.receiveEvent('stripe', body, signature);
    },
  };
}

const begin = (on: Stripe) =>
  on.ask(on.owners.customer, invoices.beginPaymentMethodSetup, { organizationId: on.customerId });

async function attach(on: Stripe, card: Parameters<FakeStripe['complete']>[1]): Promise<void> {
  on.far.complete((await begin(on)).url, card);
  await on.deliver();
  await on.settle();
}

/** @param key null: without one, so that an equal charge pays the invoice of a failed one */
const charge = (on: Stripe, key: string | null = 'a', subtotal = 10) =>
  on.ask(
    on.owners.customer,
    billing.chargeOrganization,
    { orgIdToCharge: on.customerId, subtotal },
    key === null ? {} : { 'idempotency-key': key },
  );

const info = (on: Stripe) => on.ask(on.owners.customer, billing.getOrgBillingInformation, { orgId: on.customerId });
const summary = async (on: Stripe) =>
  (await on.ask(on.owners.customer, billing.getInvoicesSummary, { orgId: on.customerId })).invoices;

test('D28 a card is attached on a page of Stripe, whatever the order of its events, and removed there as well', async () => {
  const on = await open();
  const { url, expiresAt } = await begin(on);
  expect(url).toContain(on.far.url);
  expect(Number(expiresAt?.seconds) * 1_000 - on.clock.now()).toBeGreaterThan(23 * hourMs);
  await on.settle(hourMs);
  const later = await begin(on);
  expect((await info(on)).method).toBeUndefined();
  // The set-up that was begun later is completed and reported first.
  on.far.complete(later.url, 'succeeds');
  await on.deliver();
  await on.settle();
  expect(await info(on)).toMatchObject({ method: { brand: 'visa', lastFourDigits: '4242' } });
  on.far.complete(url, 'declines');
  await on.deliver((events) => [...events, ...events]);
  await on.settle();
  const states = await on.db.selectFrom('payment_setups').select('state').orderBy('created_ms').execute();
  expect(states.map(({ state }) => state).toSorted()).toEqual(['attached', 'superseded']);
  expect(on.far.methods.size).toBe(2);
  await on.ask(on.owners.customer, invoices.removePaymentMethod, { organizationId: on.customerId });
  expect([...on.far.methods.values()]).toEqual(['declines']);
  expect((await info(on)).method).toBeUndefined();
  // Without any event, Stripe is asked.
  const third = await begin(on);
  on.far.complete(third.url, 'succeeds');
  on.far.expire((await begin(on)).url);
  on.far.takeEvents();
  await on.settle(60_000);
  expect((await info(on)).method).toMatchObject({ lastFourDigits: '4242' });
});

test('a charge is paid once, and documents of a test key are stamped TEST', async () => {
  const on = await open();
  await expect(
    on.ask(on.owners.customer, billing.createInvoiceAndChargeImmediately, { orgIdToCharge: on.customerId, amount: 1 }),
  ).rejects.toMatchObject({ code: 'failed_precondition', message: expect.stringContaining('method add') });
  await attach(on, 'succeeds');
  const { invoiceId } = await on.ask(on.owners.customer, billing.createInvoiceAndChargeImmediately, {
    ...{ orgIdToCharge: on.customerId, amount: 12.5 },
  });
  expect(await summary(on)).toMatchObject([{ id: invoiceId, status: 'paid' }]);
  expect([...on.far.payments.values()]).toMatchObject([
    { amount: 1_250, currency: 'usd', status: 'succeeded', metadata: { invoice: invoiceId } },
  ]);
  expect([...on.sent.values()][0]?.subject).toBe('TEST: Payment received for invoice TEST-000001');
  expect((await checkLedger(on.db)).problems).toEqual([]);
});

test('lost requests, lost answers, errors, and keys that Stripe has forgotten charge nothing twice', async () => {
  for (const fault of ['lost-request', 'lost-answer', 'failed-answer'] as const)
    for (const isForgotten of [false, true]) {
      const on = await open();
      await attach(on, 'succeeds');
      on.far.faults = () => fault;
      await charge(on);
      await on.settle();
      await on.settle(5_000);
      expect(await summary(on)).toMatchObject([{ status: 'open' }]);
      on.far.faults = () => 'none';
      if (isForgotten) on.far.forgetKeys();
      await on.settle(isForgotten ? 30 * 24 * hourMs : 60_000);
      expect(await summary(on), `${fault} ${isForgotten}`).toMatchObject([{ status: 'paid' }]);
      expect(on.far.payments.size).toBe(1);
    }
});

test('a declined card, and one that needs its holder, fail with the reason, and nothing can succeed afterwards', async () => {
  for (const [card, reason] of [
    ['declines', 'Your card was declined.'],
    ['needs-cardholder', 'the bank wants the cardholder to confirm the payment; attach the card again'],
  ] as const) {
    const on = await open();
    await attach(on, card);
    await charge(on, null);
    await on.settle();
    expect(await summary(on)).toMatchObject([{ status: 'open', lastPaymentFailureReason: reason }]);
    expect([...on.far.payments.values()].map(({ status }) => status)).toEqual(['canceled']);
    await attach(on, 'succeeds');
    await charge(on, null);
    await on.settle();
    expect(await summary(on)).toMatchObject([{ status: 'paid' }]);
    expect([...on.far.payments.values()].map(({ status }) => status)).toEqual(['canceled', 'succeeded']);
  }
});

test('events are verified over the body, handled once, and only name what to ask about', async () => {
  const on = await open();
  await attach(on, 'processing');
  await charge(on);
  on.far.faults = (request) => (request === 'POST /v1/payment_intents' ? 'lost-answer' : 'none');
  await on.settle();
  on.far.takeEvents();
  const [payment] = on.far.payments.values();
  if (payment === undefined) throw new Error('expected a payment');
  on.far.confirm(payment.id, true);
  const [event] = on.far.takeEvents();
  if (event === undefined) throw new Error('expected an event');
  const { body, signature } = event;
  const refused = { code: 'invalid_argument', message: expect.stringContaining('stripe-signature') };
  const receive = (given: string, signed: string) => on.billing.receiveEvent('stripe', given, signed);
  await expect(receive(body.replace('pi_', 'pj_'), signature)).rejects.toMatchObject(refused);
  await expect(receive(body, '')).rejects.toMatchObject(refused);
  await expect(receive(body, on.far.sign(body, on.clock.now() - 301_000))).rejects.toMatchObject(refused);
  await expect(receive('{', on.far.sign('}'))).rejects.toMatchObject(refused);
  // A false event is not trusted: Stripe is asked about the payment.
  const lie = JSON.stringify({ ...JSON.parse(body), id: 'evt_lie', type: 'payment_intent.payment_failed' });
  await receive(lie, on.far.sign(lie));
  const unknown = JSON.stringify({
    id: 'evt_x',
    type: 'invoice.paid',
    livemode: false,
    data: { object: { id: 'in_1' } },
  });
  await receive(unknown, on.far.sign(unknown));
  await receive(body, signature);
  await receive(body, signature);
  const noted = await on.db.selectFrom('payment_events').select('id').execute();
  expect(noted.filter(({ id }) => id === JSON.parse(body).id)).toHaveLength(1);
  // The creation whose answer was lost need not be repeated: the event named the payment.
  await on.settle();
  expect(await summary(on)).toMatchObject([{ status: 'paid' }]);
  expect((await checkLedger(on.db)).problems).toEqual([]);
});

test('a payment over an amount that differs from the request is not booked', async () => {
  const on = await open();
  await attach(on, 'processing');
  await charge(on);
  await on.settle();
  const [payment] = on.far.payments.values();
  if (payment === undefined) throw new Error('expected a payment');
  on.far.confirm(payment.id, true);
  payment.amount_received = 1;
  await on.settle(hourMs);
  expect(await summary(on)).toMatchObject([{ status: 'open' }]);
  payment.amount_received = payment.amount;
  await on.settle(2 * hourMs);
  expect(await summary(on)).toMatchObject([{ status: 'paid' }]);
});

test('amounts have the decimals that Stripe uses for the currency', async () => {
  for (const [currency, subtotal, amount] of [
    ['JPY', 1_200, 1_200],
    ['ISK', 500, 50_000],
    ['KWD', 1.25, 1_250],
    ['MGA', 300, 300],
  ] as const) {
    const on = await open(currency);
    await attach(on, 'succeeds');
    await charge(on, 'a', subtotal);
    await on.settle();
    expect([...on.far.payments.values()].map((one) => one.amount)).toEqual([amount]);
    expect(await summary(on)).toMatchObject([{ status: 'paid' }]);
  }
  const on = await open('KWD');
  await attach(on, 'succeeds');
  await charge(on, 'a', 1.255);
  await on.settle();
  expect(await summary(on)).toMatchObject([
    { status: 'open', lastPaymentFailureReason: expect.stringContaining('KWD') },
  ]);
  expect(on.far.payments.size).toBe(0);
});

test('without Stripe as the provider there is no page, and no event is accepted', async () => {
  const on = await openBilling();
  const organizationId = on.customerId;
  await expect(on.ask(on.owners.customer, invoices.beginPaymentMethodSetup, { organizationId })).rejects.toMatchObject({
    code: 'failed_precondition',
    message: expect.stringContaining('manual'),
  });
  await expect(on.billing.receiveEvent('stripe', '{}', '')).rejects.toMatchObject({ code: 'not_found' });
});

test('if Stripe does not answer, no set-up begins, and none remains', async () => {
  const on = await open();
  on.far.faults = () => 'lost-request';
  await expect(begin(on)).rejects.toMatchObject({ code: 'unavailable' });
  expect(await on.db.selectFrom('payment_setups').selectAll().execute()).toEqual([]);
});

test("Stripe's settings must be complete, its secrets are never shown, and its key is never sent in plaintext", () => {
  const env = {
    ...{ PLATFORM_PAYMENT_PROVIDER: 'stripe', PLATFORM_STRIPE_SECRET_KEY: 'sk_live_0123456789abcdef' },
    PLATFORM_STRIPE_WEBHOOK_SECRET: 'whsec_0123456789abcdef',
  };
  expect(readPaymentSettings(env)).toMatchObject({ provider: 'stripe', apiUrl: undefined });
  expect(readPaymentSettings({})).toEqual({ provider: 'manual' });
  const wrong = (more: NodeJS.ProcessEnv): string => {
    try {
      return JSON.stringify(readPaymentSettings({ ...env, ...more }));
    } catch (caught) {
      return (caught as Error).message;
    }
  };
  expect(wrong({ PLATFORM_PAYMENT_PROVIDER: 'cash' })).toContain('expected manual, test or stripe');
  expect(wrong({ PLATFORM_STRIPE_SECRET_KEY: '' })).toContain('PLATFORM_STRIPE_SECRET_KEY_FILE');
  expect(wrong({ PLATFORM_STRIPE_SECRET_KEY: 'pk_live_0123456789abcdef' })).toMatch(
    /^PLATFORM_STRIPE_SECRET_KEY: expected/,
  );
  expect(wrong({ PLATFORM_STRIPE_SECRET_KEY: 'pk_live_0123456789abcdef' })).not.toContain('0123456789');
  expect(wrong({ PLATFORM_STRIPE_WEBHOOK_SECRET_FILE: '/nowhere' })).toMatch(/^PLATFORM_STRIPE_WEBHOOK_SECRET_FILE: /);
  for (const url of ['http://stripe.example.com', 'https://stripe.example.com/path', 'https://a:b@stripe.example.com'])
    expect(wrong({ PLATFORM_STRIPE_API_URL: url })).toMatch(/^PLATFORM_STRIPE_API_URL: expected an https address/);
  expect(wrong({ PLATFORM_STRIPE_API_URL: 'https://proxy.example.com' })).toContain('"https://proxy.example.com"');
});
