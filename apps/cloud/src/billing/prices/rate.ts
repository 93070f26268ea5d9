/**
 * The price of usage: lines of an invoice, and their sum. Pure.
 *
 * Order: usage by type (one line for each price step, rounded once), then the discount (percent of these), then the credit (never below 0),
 * then the difference to the minimum. Tax is not included.
 */
import { UsageCostType } from '@platform/proto/platform/app/v1/billing';
import { priceUnits, type UsageName, unitOf, usageNames } from '../meter/usage-types.ts';
import type { Currency } from '../money/currency.ts';
import { type Decimal, divideRounded, minorOfDecimal, one, textOfDecimal } from '../money/decimal.ts';
import type { PriceStep, Tier } from './price-list.ts';

/** In units of the meter (`unitOf`). */
export type Usage = ReadonlyMap<UsageName, bigint>;

export interface Line {
  readonly kind: 'usage' | 'discount' | 'credit' | 'minimum' | 'fee';
  /** UNSPECIFIED unless the line is for usage. */
  readonly type: UsageCostType;
  readonly text: string;
  /** In price units, a decimal number; empty unless the line is for usage. */
  readonly quantity: string;
  readonly unit: string;
  readonly unitPrice: string;
  readonly minor: bigint;
}

export interface Rated {
  readonly lines: readonly Line[];
  /** In minor units: the sum of the lines, never negative. */
  readonly subtotal: bigint;
  /** Sum of the usage lines. */
  readonly beforeDiscount: bigint;
  /** Discount and credit, as a positive amount. */
  readonly discount: bigint;
}

const percent = 100n * one;

export function rate(usage: Usage, tier: Tier, currency: Currency, hoursOfMonth: bigint): Rated {
  const lines: Line[] = [];
  for (const name of usageNames) {
    const steps = tier.usage.get(name);
    const used = usage.get(name) ?? 0n;
    if (steps !== undefined && used > 0n) lines.push(...linesOfType(name, used, steps, currency, hoursOfMonth));
  }
  return adjusted(lines, tier, currency);
}

/** Lines of usage or fees with discount, credit and minimum of the tier. */
export function adjusted(charged: readonly Line[], tier: Tier, currency: Currency): Rated {
  const lines = [...charged];
  const sum = (): bigint => lines.reduce((all, { minor }) => all + minor, 0n);
  const beforeDiscount = sum();
  const discounted = divideRounded(beforeDiscount * tier.discount, percent);
  if (discounted > 0n) lines.push(plain('discount', `Discount of ${textOfDecimal(tier.discount)} %`, -discounted));
  const credit = minorOfDecimal(tier.credit, currency.exponent);
  const credited = min(credit, sum());
  if (credited > 0n) lines.push(plain('credit', 'Credit of the tier', -credited));
  const missing = minorOfDecimal(tier.minimum, currency.exponent) - sum();
  if (missing > 0n) lines.push(plain('minimum', 'Minimum of the tier', missing));
  return { lines, subtotal: sum(), beforeDiscount, discount: discounted + credited };
}

export function plain(kind: Line['kind'], text: string, minor: bigint): Line {
  return { kind, text, minor, type: UsageCostType.UNSPECIFIED, quantity: '', unit: '', unitPrice: '' };
}

/** A line for each step that the usage reaches and that has a price. */
function linesOfType(
  name: UsageName,
  used: bigint,
  steps: readonly PriceStep[],
  { exponent }: Currency,
  hoursOfMonth: bigint,
): Line[] {
  const type = UsageCostType[name];
  const unit = priceUnits[unitOf(type) ?? 'bytes'];
  const size = unit.size(hoursOfMonth);
  const total: Decimal = used * one;
  let from: Decimal = 0n;
  const lines: Line[] = [];
  for (const { upTo, price } of steps) {
    const end = upTo === undefined ? total : min(total, upTo * size);
    const inStep = end - from;
    if (inStep <= 0n) break;
    from = end;
    if (price === 0n) continue;
    lines.push({
      ...{ kind: 'usage', type, text: textOf[name], unit: unit.name, unitPrice: textOfDecimal(price) },
      quantity: textOfDecimal(divideRounded(inStep, size)),
      minor: divideRounded(inStep * price * 10n ** BigInt(exponent), one * one * size),
    });
  }
  return lines;
}

function min(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

const textOf: Readonly<Record<UsageName, string>> = {
  PER_MACHINE: 'Machines',
  TRIGGER_NOTIFICATION: 'Notifications of triggers',
  TABULAR_DATA_UPLOAD: 'Readings uploaded',
  BINARY_DATA_UPLOAD: 'Pictures and files uploaded',
  LOGS_UPLOAD: 'Machine logs uploaded',
  TABULAR_DATA_CLOUD_STORAGE: 'Readings stored',
  BINARY_DATA_CLOUD_STORAGE: 'Pictures and files stored',
  LOGS_CLOUD_STORAGE: 'Machine logs stored',
  PACKAGES_CLOUD_STORAGE: 'Packages stored',
  TABULAR_DATA_EGRESS: 'Readings downloaded',
  BINARY_DATA_EGRESS: 'Pictures and files downloaded',
  LOGS_EGRESS: 'Machine logs read',
  TABULAR_DATA_DATABASE_COMPUTE: 'Readings processed by queries',
  REMOTE_CONTROL: 'Remote control',
  CONFIG_HISTORY_CLOUD_STORAGE: 'Configuration history stored',
};
