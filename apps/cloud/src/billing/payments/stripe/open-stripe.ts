/** Clients of Stripe's API, based on its official library. */
import Stripe from 'stripe';
import type { StripeSettings } from '../settings.ts';

/** Limit of one request; callers may end it earlier. */
const requestTimeoutMs = 15_000;

export type StripeClient = Stripe;

/**
 * A client whose requests end with the signal. It retries nothing itself: the jobs retry, because they know how long each operation has
 * been pending.
 */
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
