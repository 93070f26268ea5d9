/**
 * Amounts of money as they cross the wire: floats in units of the currency (D27). Internally, an amount is a whole number of minor units.
 */
import { invalidArgument } from '@platform/base';
import type { Currency } from './currency.ts';

/** Largest single amount, in minor units. Floats up to this value are exact to a thousandth of a minor unit. */
export const maxMinor: bigint = 10n ** 12n;

/** How far a float may be from a whole minor unit. */
const tolerance = 1e-6;

/**
 * The amount of a float that is within 10⁻⁶ of a minor unit, or is the closest float to it.
 *
 * @param field named in the error.
 * @param least in minor units
 * @throws invalid_argument for NaN, infinities, negative amounts, fractions of a minor unit, and more than `maxMinor`
 */
export function minorOfWire(value: number, currency: Currency, field: string, least: 0n | 1n): bigint {
  const refuse = (found: string): never => {
    const expected = least === 0n ? 'an amount from 0' : 'an amount above 0';
    throw invalidArgument(
      `${field}: expected ${expected} up to ${textOfMinor(maxMinor, currency)} ${currency.code} with at most ${currency.exponent} decimals, found ${found}`,
    );
  };
  const scale = 10 ** currency.exponent;
  const minor = Math.round(value * scale);
  if (!Number.isFinite(minor) || minor < 0 || BigInt(minor) > maxMinor || value < 0) return refuse(String(value));
  if (Math.abs(value * scale - minor) > tolerance && minor / scale !== value) return refuse(String(value));
  return BigInt(minor) < least ? refuse(String(value)) : BigInt(minor);
}

/** The float closest to the amount. */
export function wireOfMinor(minor: bigint, { exponent }: Currency): number {
  return Number(minor) / 10 ** exponent;
}

/** Such as 12.30, -0.05 or 1200 (JPY). */
export function textOfMinor(minor: bigint, { exponent }: Currency): string {
  const digits = (minor < 0n ? -minor : minor).toString().padStart(exponent + 1, '0');
  const whole = digits.slice(0, digits.length - exponent);
  return `${minor < 0n ? '-' : ''}${whole}${exponent === 0 ? '' : `.${digits.slice(-exponent)}`}`;
}
