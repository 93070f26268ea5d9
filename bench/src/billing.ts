/** Billing compared with its requirements: the cost of metering per reading, and closing a month. */
import { closeMonth } from './billing/close-month.ts';
import { metering } from './billing/metering.ts';
import type { Figure } from './store/figure.ts';

export interface BillingLoad {
  readonly organizations: number;
  /** Rows of the meter in the month to be closed. */
  readonly records: number;
  /** Readings to meter. */
  readonly readings: number;
  readonly runs: number;
}

export async function measureBilling(load: BillingLoad): Promise<Figure[]> {
  return [...(await metering(load)), ...(await closeMonth(load))];
}
