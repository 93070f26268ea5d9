/** Reads what Stripe sends to the webhook: the signature is verified over the body as received, before any of it is parsed. */
import { invalidArgument } from '@platform/base';
import Stripe from 'stripe';
import type { ProviderEvent } from '../provider.ts';

/** Maximum age of a signature, s. */
const toleranceSeconds = 300;

/** @throws invalid_argument if the signature is invalid or too old */
export function readStripeEvent(
  body: string,
  signature: string,
  nowMs: number,
  { secret, isTest }: { readonly secret: string; readonly isTest: boolean },
): ProviderEvent {
  let event: Stripe.Event;
  try {
    event = Stripe.webhooks.constructEvent(body, signature, secret, toleranceSeconds, undefined, nowMs);
  } catch (caught) {
    throw invalidArgument(
      'stripe-signature: expected a signature of this body with the webhook secret, at most 5 minutes old, found another one',
      caught,
    );
  }
  return { id: String(event.id), about: event.livemode === isTest ? { kind: 'other' } : aboutOf(event) };
}

function aboutOf({ type, data }: Stripe.Event): ProviderEvent['about'] {
  const object = data?.object as { id?: unknown; metadata?: { charge?: unknown } | null } | undefined;
  if (typeof object?.id !== 'string') return { kind: 'other' };
  if (type.startsWith('checkout.session.')) return { kind: 'setup', session: object.id };
  const chargeId = object.metadata?.charge;
  if (type.startsWith('payment_intent.') && typeof chargeId === 'string')
    return { kind: 'charge', chargeId, reference: object.id };
  return { kind: 'other' };
}
