/** What becomes of a charge that equals an earlier one (D44). */
import { TestCard } from '@platform/proto/platform/billing/v1/billing';
import { expect, test } from 'vitest';
import type { TestBilling } from '../testing/open-billing.ts';
import {
  admin,
  attach,
  charge,
  chargeNow,
  ended,
  expectLedgerInOrder,
  openCharges,
  summary,
} from '../testing/open-charges.ts';
import { testProvider } from './provider.ts';
import { recordPayment } from './record-payment.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const { signal } = new AbortController();

const keyed = (key: string) => ({ metadata: { 'idempotency-key': key } });

/** A refusal that names the invoice, its state, and what makes another charge. */
const refusal = (invoiceId: string, state: string) => ({
  code: 'already_exists',
  message: expect.stringMatching(
    new RegExp(
      `^invoice ${invoiceId}: expected no equal charge, found .*${state}.*another description or an idempotency-key`,
    ),
  ),
});

const later = (on: TestBilling, ms: number): void => on.clock.setWall(on.clock.now() + ms);

async function idsOf(on: TestBilling): Promise<string[]> {
  return (await summary(on)).invoices.map(({ id }) => id);
}

test('D44 an equal charge is refused for two minutes after the answer to the first; after that it is another one', async () => {
  const on = await openCharges(testProvider);
  await attach(on, TestCard.SUCCEEDS);
  const { invoiceId } = await chargeNow(on);
  for (const more of [{}, { disableEmail: true }, { orgIdForBranding: on.customerId }])
    await expect(chargeNow(on, more)).rejects.toMatchObject(refusal(invoiceId, 'paid'));
  later(on, 2 * minuteMs - 1);
  await expect(chargeNow(on)).rejects.toMatchObject(refusal(invoiceId, 'paid'));
  later(on, 1);
  const second = await chargeNow(on);
  expect(await idsOf(on)).toEqual([second.invoiceId, invoiceId]);
  await expect(chargeNow(on)).rejects.toMatchObject(refusal(second.invoiceId, 'paid'));
  await expectLedgerInOrder(on);
});

test('D44 another amount, tax, description, operation or caller makes another charge', async () => {
  const on = await openCharges(testProvider);
  await attach(on, TestCard.SUCCEEDS);
  const by = { ...on.owners.customer, keyId: 'another key' } as typeof on.owners.customer;
  const ids = [
    await charge(on, { subtotal: 12.5, tax: 0 }),
    await charge(on, { subtotal: 12.5, tax: 1 }),
    await charge(on, { subtotal: 13.5, tax: 0 }),
    await charge(on, { subtotal: 12.5, tax: 0, description: 'Set-up' }),
    await charge(on, { subtotal: 12.5, tax: 0 }, { by }),
    await chargeNow(on, { amount: 12.5 }),
  ];
  expect(new Set(ids.map(({ invoiceId }) => invoiceId)).size).toBe(6);
});

test('D44 an equal charge is refused for as long as the payment of the first one is pending', async () => {
  const on = await openCharges(testProvider);
  const hours = 3;
  await attach(on, TestCard.CONFIRMS_LATE, hours * 3_600);
  const beganMs = on.clock.now();
  expect(await ended(on, chargeNow(on))).toMatchObject({ code: 'deadline_exceeded' });
  const [id = ''] = await idsOf(on);
  for (let at = beganMs + 2 * minuteMs; at < beganMs + hours * hourMs; at += 20 * minuteMs) {
    on.clock.setWall(Math.max(at, on.clock.now()));
    await expect(chargeNow(on)).rejects.toMatchObject(refusal(id, 'its payment is in progress'));
  }
  on.clock.setWall(beganMs + (hours + 1) * hourMs);
  await on.billing.jobs.settle(signal);
  await attach(on, TestCard.SUCCEEDS);
  expect((await chargeNow(on)).invoiceId).not.toBe(id);
});

test('D44 an equal charge is refused for 24 hours if the answer to the first one could not be delivered', async () => {
  const on = await openCharges(testProvider);
  await attach(on, TestCard.SUCCEEDS);
  const { invoiceId } = await chargeNow(on, {}, { isDelivered: false });
  later(on, 24 * hourMs - 1);
  await expect(chargeNow(on)).rejects.toMatchObject(refusal(invoiceId, 'paid\\); its answer may not have arrived'));
  later(on, 1);
  expect((await chargeNow(on)).invoiceId).not.toBe(invoiceId);
});

test('D44 an equal charge pays the same invoice if the payment of the first one failed within 24 hours', async () => {
  const on = await openCharges(testProvider);
  await attach(on, TestCard.DECLINES);
  const declined = {
    code: 'failed_precondition',
    message: expect.stringContaining('declined; the invoice stays open, and an equal charge'),
  };
  for (let n = 0; n < 3; n++) {
    await expect(chargeNow(on, {}, { isDelivered: n === 1 })).rejects.toMatchObject(declined);
    later(on, 24 * hourMs - 1);
  }
  const [open] = (await summary(on)).invoices;
  expect(open).toMatchObject({ status: 'open', lastPaymentFailureReason: 'the test card was declined' });
  await attach(on, TestCard.SUCCEEDS);
  const { invoiceId } = await chargeNow(on);
  expect(invoiceId).toBe(open?.id);
  expect(await idsOf(on)).toEqual([invoiceId]);
  await expect(chargeNow(on)).rejects.toMatchObject(refusal(invoiceId, 'paid'));
  await expectLedgerInOrder(on);
});

test('D44 24 hours after a failed payment, and once its invoice was paid otherwise, an equal charge is another one', async () => {
  for (const isPaid of [false, true]) {
    const on = await openCharges(testProvider);
    await attach(on, TestCard.DECLINES);
    await expect(chargeNow(on)).rejects.toMatchObject({ code: 'failed_precondition' });
    const [first = ''] = await idsOf(on);
    const reference = { invoiceId: first, amount: '12.50', reference: 'transfer' };
    if (isPaid) await recordPayment({ db: on.db, clock: on.clock, mails: undefined }, admin, reference);
    later(on, isPaid ? 2 * minuteMs : 24 * hourMs);
    await attach(on, TestCard.SUCCEEDS);
    expect((await chargeNow(on)).invoiceId).not.toBe(first);
  }
});

test('D44 an invoice that is paid by transfer is final once it is issued', async () => {
  const on = await openCharges();
  const { invoiceId } = await charge(on);
  await expect(charge(on)).rejects.toMatchObject(refusal(invoiceId, 'open'));
  later(on, 2 * minuteMs);
  expect((await charge(on)).invoiceId).not.toBe(invoiceId);
});

test('D44 of simultaneous equal charges one is made, and the others are refused', async () => {
  const on = await openCharges(testProvider);
  await attach(on, TestCard.SUCCEEDS);
  for (const isFirst of [true, false]) {
    const ends = await Promise.allSettled(Array.from({ length: 5 }, () => charge(on)));
    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const end of ends) if (end.status === 'rejected') expect(end.reason).toMatchObject({ code: 'already_exists' });
    expect(await idsOf(on)).toHaveLength(isFirst ? 1 : 2);
    await on.billing.jobs.settle(signal);
    later(on, 2 * minuteMs);
  }
});

test('D44 a crash between the charge and its answer is a lost answer', async () => {
  let isCrashing = true;
  const on = await openCharges(testProvider, {
    enqueue: async () => {},
    wake() {
      if (isCrashing) throw new Error('the process crashed');
    },
  });
  await attach(on, TestCard.SUCCEEDS);
  await expect(charge(on)).rejects.toThrow('the process crashed');
  isCrashing = false;
  const [id = ''] = await idsOf(on);
  await on.billing.jobs.settle(signal);
  later(on, 24 * hourMs - 1);
  await expect(charge(on)).rejects.toMatchObject(refusal(id, 'paid'));
  expect(await idsOf(on)).toEqual([id]);
});

test('D44 a key decides alone, for 24 hours, and returns the same answer', async () => {
  const on = await openCharges(testProvider);
  await attach(on, TestCard.SUCCEEDS);
  const plain = await chargeNow(on);
  const first = await chargeNow(on, {}, { ...keyed('k'), isDelivered: false });
  expect(first.invoiceId).not.toBe(plain.invoiceId);
  expect(await Promise.all(Array.from({ length: 5 }, () => chargeNow(on, {}, keyed('k'))))).toEqual(
    Array.from({ length: 5 }, () => first),
  );
  for (const more of [{ amount: 1 }, { disableEmail: true }])
    await expect(chargeNow(on, more, keyed('k'))).rejects.toMatchObject({ code: 'invalid_argument' });
  later(on, 24 * hourMs - 1);
  expect(await chargeNow(on, {}, keyed('k'))).toEqual(first);
  later(on, 1);
  expect(await chargeNow(on, {}, keyed('k'))).not.toEqual(first);
  expect(await idsOf(on)).toHaveLength(3);
});

test('D44 a key returns the same failure: it begins no second attempt, also with another card or none', async () => {
  const on = await openCharges(testProvider);
  await attach(on, TestCard.DECLINES);
  const failed = { code: 'failed_precondition', message: expect.stringContaining('the test card was declined') };
  await expect(chargeNow(on, {}, keyed('k'))).rejects.toMatchObject(failed);
  await attach(on, TestCard.SUCCEEDS);
  await expect(chargeNow(on, {}, keyed('k'))).rejects.toMatchObject(failed);
  await on.db.deleteFrom('payment_methods').execute();
  await expect(chargeNow(on, {}, keyed('k'))).rejects.toMatchObject(failed);
  expect(await on.db.selectFrom('charges').select('state').execute()).toEqual([{ state: 'failed' }]);
});
