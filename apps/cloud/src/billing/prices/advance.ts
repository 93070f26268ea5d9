/** What is billed in advance, and machines added after that. Pure. */
import { allocate } from '../money/allocate.ts';
import type { Currency } from '../money/currency.ts';
import { minorOfDecimal, one, textOfDecimal } from '../money/decimal.ts';
import { type Month, monthOf } from '../month.ts';
import type { Tier } from './price-list.ts';
import { adjusted, type Line, plain, type Rated, rate } from './rate.ts';

/** A month, or a year that begins with a month. */
export interface Advance {
  readonly period: 'month' | 'year';
  readonly month: Month;
}

/** The months of a period, beginning with its first. */
export function monthsOf({ period, month }: Advance): readonly Month[] {
  const months = [month];
  while (period === 'year' && months.length < 12) months.push(monthOf(months.at(-1)?.endMs ?? 0));
  return months;
}

/**
 * For the machines that exist when a period begins. A month in which billing began costs a part of the price, a year all of it.
 *
 * @param hours of the month that are billed
 */
export function advanceLines(
  tier: Tier,
  currency: Currency,
  machines: bigint,
  hours: bigint,
  { hours: all }: Month,
): Rated {
  if (tier.advance === 'month') {
    const rated = rate(new Map([['PER_MACHINE', machines * hours]]), tier, currency, all);
    return { ...rated, lines: named(rated.lines, 'Machines, in advance') };
  }
  const fee = minorOfDecimal(tier.annualFee, currency.exponent);
  const ofMachines: Line = {
    ...plain('fee', 'Machines, in advance', minorOfDecimal(tier.perMachineYear * machines, currency.exponent)),
    ...{ quantity: String(machines), unit: 'machine-year', unitPrice: textOfDecimal(tier.perMachineYear) },
  };
  const lines = [plain('fee', `Annual fee of the tier ${tier.name}`, fee), ofMachines];
  return adjusted(
    lines.filter(({ minor }) => minor > 0n),
    tier,
    currency,
  );
}

/**
 * For machines of a month beyond those paid in advance, by the hour. The prices of the months of a year add up to the price of the year.
 * Credit and minimum belong to what is billed in advance.
 */
export function laterLines(
  given: Tier,
  currency: Currency,
  machineHours: bigint,
  { paid, month }: { readonly paid: Advance; readonly month: Month },
): Rated {
  const tier: Tier = { ...given, credit: 0n, minimum: 0n };
  const usage = new Map(tier.usage);
  if (tier.advance === 'year') {
    const months = monthsOf(paid);
    const parts = allocate(
      minorOfDecimal(tier.perMachineYear, currency.exponent),
      months.map(({ hours }) => hours),
    );
    const part = parts[months.findIndex(({ name }) => name === month.name)] ?? 0n;
    usage.set('PER_MACHINE', [{ upTo: undefined, price: (part * one) / 10n ** BigInt(currency.exponent) }]);
  }
  const rated = rate(new Map([['PER_MACHINE', machineHours]]), { ...tier, usage }, currency, month.hours);
  return { ...rated, lines: named(rated.lines, 'Machines beyond those paid in advance') };
}

function named(lines: readonly Line[], text: string): readonly Line[] {
  return lines.map((line) => (line.kind === 'usage' ? { ...line, text } : line));
}
