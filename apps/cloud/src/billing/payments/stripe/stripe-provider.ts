/**
 * The provider `stripe`: cards are attached on a page of Stripe and charged by Stripe. With a test key no money moves, and documents are
 * stamped TEST.
 */
import { unavailable } from '@platform/base';
import Stripe from 'stripe';
import type { HostedSetup, PaymentProvider } from '../provider.ts';
import type { StripeSettings } from '../settings.ts';
import { openStripe } from './open-stripe.ts';
import { readStripeEvent } from './read-event.ts';
import { type StripeMethod, settleIntent } from './settle-intent.ts';

export function createStripeProvider(settings: StripeSettings): PaymentProvider {
  const isTest = /^.._test_/.test(settings.secretKey);
  return {
    ...{ name: 'stripe', isTest, canCharge: true },
    settle: (charge, nowMs, signal) => settleIntent(openStripe(settings, signal), charge, nowMs),
    setup: hostedSetup(settings),
    readEvent: (body, signature, nowMs) =>
      readStripeEvent(body, signature, nowMs, { secret: settings.webhookSecret, isTest }),
  };
}

function hostedSetup(settings: StripeSettings): HostedSetup {
  return {
    async begin({ id, organizationId, returnUrl }, signal) {
      const session = await openStripe(settings, signal).checkout.sessions.create(
        {
          ...{ mode: 'setup', payment_method_types: ['card'], customer_creation: 'always' },
          ...{ client_reference_id: organizationId, metadata: { setup: id, organization: organizationId } },
          ...{ success_url: returnUrl, cancel_url: returnUrl },
        },
        { idempotencyKey: `setup-${id}` },
      );
      if (session.url === null) throw unavailable('stripe: expected the address of a set-up page, found none');
      return { session: session.id, url: session.url, expiresMs: session.expires_at * 1_000 };
    },
    async find(session, signal) {
      const { status, customer, setup_intent } = await openStripe(settings, signal).checkout.sessions.retrieve(
        session,
        {
          expand: ['setup_intent.payment_method'],
        },
      );
      if (status === 'expired') return 'expired';
      const method = typeof setup_intent === 'object' ? setup_intent?.payment_method : undefined;
      if (status !== 'complete' || typeof method !== 'object' || method === null || customer === null) return 'pending';
      const stored: StripeMethod = {
        customer: typeof customer === 'string' ? customer : customer.id,
        paymentMethod: method.id,
      };
      const { brand = method.type, last4: lastFour = '' } = method.card ?? {};
      return { brand, lastFour, method: JSON.stringify(stored) };
    },
    async detach(method, signal) {
      const { paymentMethod }: StripeMethod = JSON.parse(method);
      try {
        await openStripe(settings, signal).paymentMethods.detach(paymentMethod);
      } catch (caught) {
        // It has already been detached.
        if (!(caught instanceof Stripe.errors.StripeInvalidRequestError)) throw caught;
      }
    },
  };
}
