/** Clients of Stripe's API by its official library. */
import Stripe from 'stripe';
import type { StripeSettings } from '../settings.ts';

/** How long one request may take; whoever waits for it ends it earlier. */
const requestTimeoutMs = 15_000;

export type StripeClient = Stripe;

/** A client whose requests end with the signal. It repeats nothing itself: what failed is asked again by the jobs, which know since when. */
export function openStripe({ secretKey, apiUrl }: StripeSettings, signal: AbortSignal): StripeClient {
  const { protocol, hostname, port } = new URL(apiUrl ?? 'https://api.stripe.com');
  return new Stripe(secretKey, {
    protocol: protocol === 'http:' ? 'http' : 'https',
    host: hostname,
    port: port === '' ? (protocol === 'http:' ? 80 : 443) : Number(port),
    ...{ timeout: requestTimeoutMs, maxNetworkRetries: 0, telemetry: false },
    // A redirect would take the secret key elsewhere.
    httpClient: Stripe.createFetchHttpClient((input: string | URL | Request, init: RequestInit = {}) =>
      fetch(input, {
        ...init,
        redirect: 'error',
        signal: AbortSignal.any([signal, ...(init.signal ? [init.signal] : [])]),
      }),
    ),
  });
}
