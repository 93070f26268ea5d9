/** How money is collected. A provider is told of each attempt by its id, which makes repeats harmless. */
import type { PaymentSettings } from './settings.ts';

export interface Charge {
  readonly id: string;
  readonly invoiceId: string;
  /** Minor units. */
  readonly minor: bigint;
  readonly currency: string;
  /** What `attach` made of the payment method. */
  readonly method: string;
  readonly createdMs: number;
  /** What the provider calls the attempt; empty: not known so far. */
  readonly reference: string;
}

/** `unknown`: not confirmed and not declined so far; ask again. `reference`: what the provider calls the attempt, if that is known now. */
export type Outcome =
  | { readonly kind: 'succeeded' }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'unknown'; readonly reference?: string };

/** Payment methods are attached on a page of the provider: card numbers never reach the platform. */
export interface HostedSetup {
  /** @param setupId repeats with the same id begin one set-up. @param returnUrl where the page leads afterwards */
  begin(
    setup: { readonly id: string; readonly organizationId: string; readonly returnUrl: string },
    signal: AbortSignal,
  ): Promise<{ readonly session: string; readonly url: string; readonly expiresMs: number }>;
  /** What has become of it. */
  find(session: string, signal: AbortSignal): Promise<'pending' | 'expired' | SetUpMethod>;
  /** Makes a method useless that is not attached any more. */
  detach(method: string, signal: AbortSignal): Promise<void>;
}

export interface SetUpMethod {
  readonly brand: string;
  readonly lastFour: string;
  /** JSON for `Charge.method`. */
  readonly method: string;
}

/** What a provider sent on its own account. It only says what to ask about: the answer decides. */
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
  /** Submits the attempt, or asks about one that was submitted: once, whatever happens to the answer. */
  settle(charge: Charge, nowMs: number, signal: AbortSignal): Promise<Outcome>;
  readonly setup?: HostedSetup;
  /** Verifies and reads an event. @param body as it was received. @throws invalid_argument if the signature does not hold */
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

/** Deterministic: what becomes of an attempt depends on the card and on the time since it was made. No money moves. */
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

/** The library of Stripe is loaded only if it is the provider. */
export async function openProvider(settings: PaymentSettings): Promise<PaymentProvider> {
  if (settings.provider !== 'stripe') return settings.provider === 'test' ? testProvider : manualProvider;
  const { createStripeProvider } = await import('./stripe/stripe-provider.ts');
  return createStripeProvider(settings);
}
