/** Times in text: ISO 8601 in its common forms, without a zone UTC. */

const shape: RegExp =
  /^\s*(\d{4})-(\d{2})(?:-(\d{2}))?(?:(?:T|\s+)(\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?)?\s*(Z|z|UTC|GMT|[+-]\d{2}(?::?\d{2})?)?\s*$/;

/** Milliseconds since 1970 UTC, or undefined for a text that is not a time. */
export function parseDate(text: string): number | undefined {
  const found = shape.exec(text);
  if (found === null) return undefined;
  const [, year, month, day = '01', hour = '00', minute = '00', second = '00', fraction = '', zone = 'Z'] = found;
  const ms = Number(fraction.padEnd(3, '0').slice(0, 3));
  const [y, m, d] = [Number(year), Number(month), Number(day)];
  if (m < 1 || m > 12 || d < 1 || d > daysOf(y, m)) return undefined;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined;
  const date = new Date(0);
  date.setUTCFullYear(y, m - 1, d);
  date.setUTCHours(Number(hour), Number(minute), Number(second), ms);
  const offset = zoneMinutes(zone);
  return offset === undefined ? undefined : date.getTime() - offset * 60_000;
}

function daysOf(year: number, month: number): number {
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  return month === 2 ? (leap ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31;
}

/** Minutes east of UTC of `Z`, `UTC`, `GMT`, `+02`, `+0200`, `+02:00`; undefined for anything else. */
export function zoneMinutes(zone: string): number | undefined {
  if (/^(z|utc|gmt)$/i.test(zone)) return 0;
  const found = /^([+-])(\d{2}):?(\d{2})?$/.exec(zone);
  if (found === null) return undefined;
  const minutes = Number(found[2]) * 60 + Number(found[3] ?? 0);
  return found[1] === '-' ? -minutes : minutes;
}
