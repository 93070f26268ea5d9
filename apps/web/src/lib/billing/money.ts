/** Formats amounts of money, and gives the smallest amount that a form accepts. */

/** Such as "€12.50" or "JP¥1,200", in the person's language. @param currency ISO 4217; empty: unknown, and then omitted */
export function money(amount: number, currency: string): string {
  return isCode(currency)
    ? amount.toLocaleString(undefined, { style: 'currency', currency })
    : amount.toLocaleString(undefined, { minimumFractionDigits: 2 });
}

/** The smallest amount of the currency: 0.01, 1 (JPY), 0.001 (KWD). */
export function smallestAmount(currency: string): number {
  const { maximumFractionDigits: digits = 2 } = isCode(currency)
    ? new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions()
    : {};
  return 1 / 10 ** digits;
}

function isCode(currency: string): boolean {
  return /^[A-Z]{3}$/.test(currency);
}
