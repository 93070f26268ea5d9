/** `POST /webhooks/stripe`: events of the payment provider, authenticated by a signature over the body. */
import { invalidArgument } from '@platform/base';
import { readBody } from '../test-inbox/read-body.ts';
import type { Route } from '../wire/route.ts';
import { headerOf, sendJson } from './http.ts';

/** Stripe's events have a few kilobytes. */
const maxBodyBytes = 256 * 1024;

export function paymentEventsRoute(
  receive: (provider: 'stripe', body: string, signature: string) => Promise<void>,
): Route {
  return async (request, response, url) => {
    if (url.pathname !== '/webhooks/stripe') return false;
    if (request.method !== 'POST') throw invalidArgument(`/webhooks/stripe: expected POST, found ${request.method}`);
    await receive('stripe', await readBody(request, maxBodyBytes), headerOf(request, 'stripe-signature'));
    sendJson(response, 200, { received: true });
    return true;
  };
}
