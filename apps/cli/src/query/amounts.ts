/** Formats counts and byte sizes. */

/** @param one such as `row` */
export function amount(count: number, one: string): string {
  return `${count.toLocaleString('en')} ${one}${count === 1 ? '' : 's'}`;
}

/** 1 kB is 1,000 bytes. */
export function bytesText(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let at = 0;
  let value = bytes;
  while (value >= 999.5 && at < units.length - 1) {
    value /= 1_000;
    at++;
  }
  return `${at === 0 || value >= 100 ? Math.round(value) : value.toPrecision(value >= 10 ? 3 : 2)} ${units[at]}`;
}
