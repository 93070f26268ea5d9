/**
 * One attempt to pay is one PaymentIntent at Stripe, which carries the id of the attempt. It is created with an idempotency key, so that a
 * repeated request creates nothing. Stripe forgets keys after a day; once an attempt is older than an hour, the customer's intents are
 * searched before it is submitted again. An intent that is not confirmed at once is queried until it is final. An intent that needs action
 * by the cardholder is cancelled before the attempt is recorded as failed, so that nothing can succeed afterwards.
 */
import { dataLoss, dayMs, hourMs } from '@platform/base';
import Stripe from 'stripe';
import type { Charge, Outcome } from '../provider.ts';
import type { StripeClient } from './open-stripe.ts';
import { stripeAmount } from './stripe-amount.ts';

/** `Charge.method`, as JSON. */
export interface StripeMethod {
  readonly customer: string;
  readonly paymentMethod: string;
}

type Intent = Stripe.PaymentIntent;

/** How far this computer's clock may be ahead of Stripe's. */
const skewMs = dayMs;

export async function settleIntent(stripe: StripeClient, charge: Charge, nowMs: number): Promise<Outcome> {
  let amount: number;
  try {
    amount = stripeAmount(charge.minor, charge.currency);
  } catch (caught) {
    return { kind: 'failed', reason: (caught as Error).message };
  }
  const intent =
    charge.reference === ''
      ? await submit(stripe, charge, amount, nowMs)
      : await stripe.paymentIntents.retrieve(charge.reference);
  return 'kind' in intent ? intent : await outcomeOf(stripe, charge, amount, intent);
}

async function submit(stripe: StripeClient, charge: Charge, amount: number, nowMs: number): Promise<Intent | Outcome> {
  const { id, invoiceId, currency, createdMs } = charge;
  const { customer, paymentMethod }: StripeMethod = JSON.parse(charge.method);
  if (nowMs - createdMs > hourMs) {
    const submitted = await find(stripe, charge, customer);
    if (submitted !== undefined) return submitted;
  }
  try {
    return await stripe.paymentIntents.create(
      {
        ...{ amount, currency: currency.toLowerCase(), customer, payment_method: paymentMethod },
        ...{ payment_method_types: ['card'], off_session: true, confirm: true },
        metadata: { invoice: invoiceId, charge: id },
      },
      { idempotencyKey: `invoice-${invoiceId}-${id}` },
    );
  } catch (caught) {
    if (caught instanceof Stripe.errors.StripeCardError && caught.payment_intent !== undefined)
      return caught.payment_intent;
    // A permanent refusal, unless an earlier request of this attempt was accepted.
    if (caught instanceof Stripe.errors.StripeInvalidRequestError || caught instanceof Stripe.errors.StripeCardError)
      return (await find(stripe, charge, customer)) ?? { kind: 'failed', reason: caught.message };
    throw caught;
  }
}

/** The intent of an attempt whose answer was lost. */
async function find(stripe: StripeClient, charge: Charge, customer: string): Promise<Intent | undefined> {
  const gte = Math.floor((charge.createdMs - skewMs) / 1_000);
  for await (const intent of stripe.paymentIntents.list({ customer, created: { gte }, limit: 100 }))
    if (intent.metadata['charge'] === charge.id) return intent;
  return undefined;
}

async function outcomeOf(stripe: StripeClient, charge: Charge, amount: number, intent: Intent): Promise<Outcome> {
  const { id: reference, status } = intent;
  const isOurs =
    intent.metadata['charge'] === charge.id &&
    intent.amount === amount &&
    intent.currency === charge.currency.toLowerCase() &&
    (status !== 'succeeded' || intent.amount_received === amount);
  if (!isOurs)
    throw dataLoss(
      `payment ${reference}: expected one over ${amount} ${charge.currency} for the attempt ${charge.id}, found ${status}, ${intent.amount_received} of ${intent.amount} ${intent.currency} for ${intent.metadata['charge']}`,
    );
  if (status === 'succeeded') return { kind: 'succeeded' };
  if (status === 'processing') return { kind: 'unknown', reference };
  const reason = intent.last_payment_error?.message ?? unfinished[status] ?? 'the payment was cancelled at Stripe';
  // If the intent has succeeded, this is refused, and the next query finds out.
  if (status !== 'canceled') await stripe.paymentIntents.cancel(reference);
  return { kind: 'failed', reason };
}

const unfinished: Readonly<Record<string, string>> = {
  requires_action: 'the bank wants the cardholder to confirm the payment; attach the card again',
  requires_payment_method: 'the card was declined',
};
