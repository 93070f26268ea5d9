/**
 * Decimal numbers as exact fractions: unit prices, percentages and quantities, which may be finer than a minor unit.
 *
 * Rounding: a product is rounded to an amount once, at the end, half away from zero (0.005 → 0.01, -0.005 → -0.01).
 */
import { invalidArgument } from '@platform/base';

const maxDecimals = 12;
const scale = 10n ** BigInt(maxDecimals);
const pattern = /^(0|[1-9]\d{0,11})(?:\.(\d{1,12}))?$/;

/** In units of 10⁻¹². */
export type Decimal = bigint;

export const one: Decimal = scale;

/** @param path named in the error. @throws invalid_argument unless it is text such as "0.15": not negative, at most 12 decimals */
export function decimalOf(text: unknown, path: string): Decimal {
  const [, whole, fraction = ''] = (typeof text === 'string' ? pattern.exec(text) : null) ?? [];
  if (whole !== undefined) return BigInt(whole) * scale + BigInt(fraction.padEnd(maxDecimals, '0'));
  throw invalidArgument(
    `${path}: expected a decimal number as text, such as "0.15", not negative and with at most ${maxDecimals} decimals, found ${JSON.stringify(text ?? null)?.slice(0, 80)}`,
  );
}

/** Without trailing zeros, such as 0.15 or 3. */
export function textOfDecimal(value: Decimal): string {
  const sign = value < 0n ? '-' : '';
  const digits = (value < 0n ? -value : value).toString().padStart(maxDecimals + 1, '0');
  const fraction = digits.slice(-maxDecimals).replace(/0+$/, '');
  return `${sign}${digits.slice(0, -maxDecimals)}${fraction === '' ? '' : `.${fraction}`}`;
}

/** numerator / denominator, rounded half away from zero. @param denominator above 0 */
export function divideRounded(numerator: bigint, denominator: bigint): bigint {
  const twice = 2n * (numerator < 0n ? -numerator : numerator) + denominator;
  const rounded = twice / (2n * denominator);
  return numerator < 0n ? -rounded : rounded;
}

/** The value in minor units of a currency with this exponent, rounded once. */
export function minorOfDecimal(value: Decimal, exponent: number): bigint {
  return divideRounded(value * 10n ** BigInt(exponent), scale);
}
