/** Amounts as Stripe represents them: for a few currencies the number of decimals differs from ISO 4217. */
import { invalidArgument } from '@platform/base';
import { currencyOf } from '../../money/currency.ts';

/** No decimals at Stripe, but two in ISO 4217. */
const withoutDecimals = new Set(['MGA']);
/** Two decimals at Stripe, which must be 0, but none in ISO 4217. */
const withTwoDecimals = new Set(['ISK', 'UGX']);

/** @param minor in the minor units of ISO 4217. @throws invalid_argument for an amount that Stripe cannot charge */
export function stripeAmount(minor: bigint, code: string): number {
  const { exponent } = currencyOf(code, 'currency');
  if (withTwoDecimals.has(code)) return Number(minor) * 100;
  // The last of three decimals must be 0.
  const step = withoutDecimals.has(code) ? 100n : exponent === 3 ? 10n : 1n;
  if (minor % step !== 0n)
    throw invalidArgument(
      `amount: expected a multiple of ${step} minor units of ${code}, as Stripe requires, found ${minor}`,
    );
  return Number(withoutDecimals.has(code) ? minor / step : minor);
}
