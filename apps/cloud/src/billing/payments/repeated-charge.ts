/** What becomes of a charge that equals an earlier one and has no key (D44). Pure. */
import { dayMs } from '@platform/base';
import type { InvoiceRow } from '../invoices/issue-invoice.ts';
import type { ChargeRow } from './settle-charge.ts';

const afterAnswerMs = 120_000;

/** The earlier charge. */
export interface EarlierCharge {
  readonly createdMs: number;
  /** When its answer was delivered; null: it was not, or nobody knows. */
  readonly answeredMs: number | null;
  readonly invoice: Pick<InvoiceRow, 'state'>;
  /** The attempt to pay its invoice that is pending or has succeeded, otherwise the last one. Undefined: it is paid by transfer. */
  readonly attempt: Pick<ChargeRow, 'state' | 'finished_ms'> | undefined;
}

/**
 * `another`: a charge of its own. `again`: the payment of the first one failed within 24 hours, so its invoice is paid. `refused`: until
 * `untilMs`; undefined: until its payment is confirmed or fails.
 */
export type Repeated =
  | { readonly is: 'another' }
  | { readonly is: 'again' }
  | { readonly is: 'refused'; readonly untilMs: number | undefined };

export function repeatedCharge({ createdMs, answeredMs, invoice, attempt }: EarlierCharge, nowMs: number): Repeated {
  if (attempt?.state === 'pending') return { is: 'refused', untilMs: undefined };
  if (attempt?.state === 'failed' && invoice.state === 'open' && nowMs < (attempt.finished_ms ?? 0) + dayMs)
    return { is: 'again' };
  const untilMs = answeredMs === null ? createdMs + dayMs : answeredMs + afterAnswerMs;
  return nowMs < untilMs ? { is: 'refused', untilMs } : { is: 'another' };
}

/** How long a key of a client decides. */
export const keyForMs: number = dayMs;
