/** How money is collected. Each attempt is sent to the provider with its id, so that repeats are harmless. */
import type { PaymentSettings } from './settings.ts';

export interface Charge {
  readonly id: string;
  readonly invoiceId: string;
  /** Minor units. */
  readonly minor: bigint;
  readonly currency: string;
  /** The payment method, as returned by `attach`. */
  readonly method: string;
  readonly createdMs: number;
  /** The provider's id of the attempt; empty: not known yet. */
  readonly reference: string;
}

/** `unknown`: neither confirmed nor declined yet; ask again. `reference`: the provider's id of the attempt, if it is known now. */
export type Outcome =
  | { readonly kind: 'succeeded' }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'unknown'; readonly reference?: string };

/** Payment methods are attached on a page of the provider: card numbers never reach the platform. */
export interface HostedSetup {
  /** @param setupId a repeat with the same id begins only one set-up. @param returnUrl where the page leads when it is finished */
  begin(
    setup: { readonly id: string; readonly organizationId: string; readonly returnUrl: string },
    signal: AbortSignal,
  ): Promise<{ readonly session: string; readonly url: string; readonly expiresMs: number }>;
  /** The current state of the set-up. */
  find(session: string, signal: AbortSignal): Promise<'pending' | 'expired' | SetUpMethod>;
  /** Makes a method that is no longer attached unusable. */
  detach(method: string, signal: AbortSignal): Promise<void>;
}

export interface SetUpMethod {
  readonly brand: string;
  readonly lastFour: string;
  /** JSON for `Charge.method`. */
  readonly method: string;
}

/** What a provider sent unasked. It only names what to ask about: the answer decides. */
export interface ProviderEvent {
  readonly id: string;
  readonly about:
    | { readonly kind: 'charge'; readonly chargeId: string; readonly reference: string }
    | { readonly kind: 'setup'; readonly session: string }
    | { readonly kind: 'other' };
}

export interface PaymentProvider {
  readonly name: 'manual' | 'test' | 'stripe';
  /** Every document is stamped TEST. */
  readonly isTest: boolean;
  /** False: it only receives payments that the host administrator records. */
  readonly canCharge: boolean;
  /** Submits the attempt, or asks about one that was submitted. It is submitted once, even if the answer is lost. */
  settle(charge: Charge, nowMs: number, signal: AbortSignal): Promise<Outcome>;
  readonly setup?: HostedSetup;
  /** Verifies and reads an event. @param body as received. @throws invalid_argument if the signature is invalid */
  readEvent?(body: string, signature: string, nowMs: number): ProviderEvent;
}

/** The default: invoices are paid by transfer, and the host administrator records what arrived. */
export const manualProvider: PaymentProvider = {
  ...{ name: 'manual', isTest: false, canCharge: false },
  settle: async () => ({ kind: 'unknown' }),
};

export interface TestMethod {
  readonly card: 'succeeds' | 'declines' | 'confirms-late' | 'never-confirms';
  readonly afterMs: number;
}

/** Deterministic: the outcome of an attempt depends on the card and on the time since the attempt. No money moves. */
export const testProvider: PaymentProvider = {
  ...{ name: 'test', isTest: true, canCharge: true },
  async settle({ method, createdMs }, nowMs) {
    const { card, afterMs }: TestMethod = JSON.parse(method);
    if (card === 'declines') return { kind: 'failed', reason: 'the test card was declined' };
    if (card === 'never-confirms' || (card === 'confirms-late' && nowMs < createdMs + afterMs))
      return { kind: 'unknown' };
    return { kind: 'succeeded' };
  },
};

/** Stripe's library is loaded only if Stripe is the provider. */
export async function openProvider(settings: PaymentSettings): Promise<PaymentProvider> {
  if (settings.provider !== 'stripe') return settings.provider === 'test' ? testProvider : manualProvider;
  const { createStripeProvider } = await import('./stripe/stripe-provider.ts');
  return createStripeProvider(settings);
}
