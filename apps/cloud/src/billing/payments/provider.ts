/** How money is collected. A provider is told of each attempt by its id, which makes repeats harmless. */

export interface Charge {
  readonly id: string;
  /** Minor units. */
  readonly minor: bigint;
  readonly currency: string;
  /** What `attach` made of the payment method. */
  readonly method: string;
  readonly createdMs: number;
}

/** `unknown`: not confirmed and not declined so far; ask again. */
export type Outcome =
  | { readonly kind: 'succeeded' }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'unknown' };

export interface PaymentProvider {
  readonly name: 'manual' | 'test';
  /** Every document is stamped TEST. */
  readonly isTest: boolean;
  /** False: it only receives payments that the host administrator records. */
  readonly canCharge: boolean;
  /** Submits the attempt, or asks about one that was submitted: once, whatever happens to the answer. */
  settle(charge: Charge, nowMs: number, signal: AbortSignal): Promise<Outcome>;
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

export const providerNames = ['manual', 'test'] as const;

export function providerNamed(name: (typeof providerNames)[number]): PaymentProvider {
  return name === 'test' ? testProvider : manualProvider;
}
