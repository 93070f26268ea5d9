const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];

/** Bytes in readable form, with three digits, such as "1.5 kB" and "120 MB"; a kB is 1,000 bytes. */
export function bytesText(bytes: number): string {
  let value = bytes;
  let at = 0;
  // What rounds to 1,000 belongs to the next unit.
  while (value >= 999.5 && at < units.length - 1) {
    value /= 1_000;
    at++;
  }
  return `${Number(value.toPrecision(value >= 1_000 ? 15 : 3))} ${units[at]}`;
}
