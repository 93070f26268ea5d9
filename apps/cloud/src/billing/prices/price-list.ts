/**
 * The price list of an organization that bills others: the JSON that its owners write, and its parser.
 *
 *     {"currency": "USD", "tax_percent": "19", "payment_days": 30, "payment_instructions": "IBAN ...", "tiers": [{
 *       "name": "standard", "in_arrears": true, "per_machine": "10", "discount_percent": "5", "credit": "20", "minimum": "15",
 *       "usage": {"TABULAR_DATA_UPLOAD": {"steps": [{"up_to": "100", "price": "0.15"}, {"price": "0.10"}]}}
 *     }, {"name": "yearly", "in_arrears": false, "annual_fee": "1200", "per_machine_per_year": "100"},
 *     {"name": "prepaid", "in_arrears": false, "per_machine": "10"}]}
 *
 * Unknown keys are refused: a misspelt price would be free of charge.
 */
import { invalidArgument, invisibleCharacter } from '@platform/base';
import { type UsageName, usageNames } from '../meter/usage-types.ts';
import { type Currency, currencyOf } from '../money/currency.ts';
import { type Decimal, decimalOf, one } from '../money/decimal.ts';
import { objectOf, wrong } from './read-json.ts';

export interface PriceList {
  readonly currency: Currency;
  /** Percent of the subtotal. */
  readonly tax: Decimal;
  /** Days from the invoice to its due date. */
  readonly paymentDays: number;
  /** Payment instructions on each invoice; empty: none. */
  readonly payment: string;
  readonly tiers: readonly Tier[];
}

export interface Tier {
  readonly name: string;
  /** What is billed in advance; undefined: billed monthly, after the month. */
  readonly advance: 'month' | 'year' | undefined;
  /** Only if years are billed in advance: for the organization, and for each machine. */
  readonly annualFee: Decimal;
  readonly perMachineYear: Decimal;
  /** By type; a type without steps is free. */
  readonly usage: ReadonlyMap<UsageName, readonly PriceStep[]>;
  /** Percent of all usage. */
  readonly discount: Decimal;
  /** Amount per month that is not charged. */
  readonly credit: Decimal;
  /** Minimum amount per month. */
  readonly minimum: Decimal;
}

/** A price for each unit of the month beyond the preceding steps. */
export interface PriceStep {
  /** In price units of the month; undefined: no upper limit. */
  readonly upTo: Decimal | undefined;
  readonly price: Decimal;
}

const maxDocumentBytes = 64 * 1024;
const maxTiers = 50;
const maxInstructions = 1_000;
const maxSteps = 20;

/** @throws invalid_argument with the path of the first problem */
export function parsePriceList(document: string): PriceList {
  if (Buffer.byteLength(document) > maxDocumentBytes)
    throw wrong('document', `at most ${maxDocumentBytes} bytes`, Buffer.byteLength(document));
  let json: unknown;
  try {
    json = JSON.parse(document);
  } catch (caught) {
    throw invalidArgument('document: expected JSON, found other text', caught);
  }
  const list = objectOf(json, 'document', [
    ...['currency', 'tax_percent', 'payment_days', 'payment_instructions', 'tiers'],
  ]);
  const days = list['payment_days'] ?? 14;
  if (typeof days !== 'number' || !Number.isInteger(days) || days < 0 || days > 365)
    throw wrong('payment_days', 'a whole number from 0 to 365', days);
  const tiers = arrayOf(list['tiers'], 'tiers', maxTiers).map((tier, index) => tierOf(tier, `tiers[${index}]`));
  for (const [index, { name }] of tiers.entries())
    if (tiers.findIndex((other) => other.name === name) < index)
      throw wrong(`tiers[${index}].name`, 'a name that no other tier has', name);
  return {
    currency: currencyOf(list['currency'], 'currency'),
    tax: percentOf(list['tax_percent'] ?? '0', 'tax_percent'),
    paymentDays: days,
    payment: instructionsOf(list['payment_instructions'] ?? ''),
    tiers,
  };
}

/** Text that may have several lines. */
function instructionsOf(json: unknown): string {
  if (typeof json === 'string' && [...json].length <= maxInstructions) {
    const unseen = json
      .split('\n')
      .map(invisibleCharacter)
      .find((found) => found !== undefined);
    if (unseen === undefined) return json;
  }
  throw wrong('payment_instructions', `text of at most ${maxInstructions} visible characters and line feeds`, json);
}

function tierOf(json: unknown, path: string): Tier {
  const tier = objectOf(json, path, [
    ...['name', 'in_arrears', 'annual_fee', 'per_machine_per_year', 'per_machine', 'usage'],
    ...['discount_percent', 'credit', 'minimum'],
    // Where its prices came from (fragment-tiers.ts).
    'fragment',
  ]);
  const { name } = tier;
  if (typeof name !== 'string' || !/^[\p{L}\p{N}][\p{L}\p{N} ._-]{0,59}$/u.test(name))
    throw wrong(`${path}.name`, 'up to 60 letters, digits, blanks, dots, - and _', name);
  const advance = advanceOf(tier, path);
  const usage = new Map<UsageName, readonly PriceStep[]>();
  for (const [key, price] of Object.entries(objectOf(tier['usage'] ?? {}, `${path}.usage`, usageNames)))
    usage.set(key as UsageName, stepsOf(price, `${path}.usage.${key}`));
  if (tier['per_machine'] !== undefined) {
    if (usage.has('PER_MACHINE')) throw wrong(`${path}.per_machine`, 'none beside usage.PER_MACHINE', 'both');
    usage.set('PER_MACHINE', [{ upTo: undefined, price: decimalOf(tier['per_machine'], `${path}.per_machine`) }]);
  }
  return {
    ...{ name, advance, usage },
    annualFee: decimalOf(tier['annual_fee'] ?? '0', `${path}.annual_fee`),
    perMachineYear: decimalOf(tier['per_machine_per_year'] ?? '0', `${path}.per_machine_per_year`),
    discount: percentOf(tier['discount_percent'] ?? '0', `${path}.discount_percent`),
    credit: decimalOf(tier['credit'] ?? '0', `${path}.credit`),
    minimum: decimalOf(tier['minimum'] ?? '0', `${path}.minimum`),
  };
}

/** @throws invalid_argument for prices that such a tier does not charge */
function advanceOf(tier: Readonly<Record<string, unknown>>, path: string): Tier['advance'] {
  const inArrears = tier['in_arrears'];
  const ofYears = ['annual_fee', 'per_machine_per_year'].filter((key) => tier[key] !== undefined);
  const perMonth = tier['per_machine'] !== undefined;
  if (typeof inArrears !== 'boolean') throw wrong(`${path}.in_arrears`, 'true or false', inArrears);
  if (inArrears) {
    const [first] = ofYears;
    if (first !== undefined)
      throw wrong(`${path}.${first}`, 'none, because the tier is billed in arrears', tier[first]);
    return undefined;
  }
  if (tier['usage'] !== undefined)
    throw wrong(`${path}.usage`, 'none, because what is used is not known in advance', tier['usage']);
  if (ofYears.length > 0 === perMonth)
    throw wrong(
      `${path}.annual_fee`,
      'annual_fee and per_machine_per_year, or per_machine, because the tier is billed in advance',
      [...ofYears, ...(perMonth ? ['per_machine'] : [])],
    );
  return perMonth ? 'month' : 'year';
}

/** `{"price": …}`, `{"free": …, "price": …}` or `{"steps": […]}`. */
function stepsOf(json: unknown, path: string): readonly PriceStep[] {
  const given = objectOf(json, path, ['price', 'free', 'steps']);
  if (given['steps'] === undefined) {
    const last = { upTo: undefined, price: decimalOf(given['price'], `${path}.price`) };
    const free = decimalOf(given['free'] ?? '0', `${path}.free`);
    return free === 0n ? [last] : [{ upTo: free, price: 0n }, last];
  }
  if (given['price'] !== undefined || given['free'] !== undefined)
    throw wrong(path, 'either steps, or a price', Object.keys(given));
  const steps = arrayOf(given['steps'], `${path}.steps`, maxSteps).map((step, index): PriceStep => {
    const at = `${path}.steps[${index}]`;
    const { price, up_to: upTo } = objectOf(step, at, ['price', 'up_to']);
    return {
      price: decimalOf(price, `${at}.price`),
      upTo: upTo === undefined ? undefined : decimalOf(upTo, `${at}.up_to`),
    };
  });
  for (const [index, { upTo }] of steps.entries()) {
    const at = `${path}.steps[${index}].up_to`;
    const before = steps[index - 1]?.upTo ?? 0n;
    const isLast = index === steps.length - 1;
    if (isLast ? upTo !== undefined : upTo === undefined || upTo <= before)
      throw wrong(at, isLast ? 'none: the last step has no end' : 'more than the step before', upTo);
  }
  return steps;
}

function percentOf(json: unknown, path: string): Decimal {
  const percent = decimalOf(json, path);
  if (percent <= 100n * one) return percent;
  throw wrong(path, 'at most 100', json);
}

function arrayOf(json: unknown, path: string, max: number): readonly unknown[] {
  if (Array.isArray(json) && json.length > 0 && json.length <= max) return json;
  throw wrong(path, `a list of 1 to ${max}`, Array.isArray(json) ? `${json.length}` : json);
}
