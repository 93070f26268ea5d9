/** Time zones of people and organizations, and times in them. */
import { invalidArgument, visibleText } from '@platform/base';

/**
 * An IANA name in its usual spelling; empty: none.
 * @throws invalid_argument naming the found value
 */
export function checkedTimeZone(text: string): string {
  const name = text.trim();
  if (name === '') return '';
  const usual = /^[a-z][\w+/-]{0,63}$/i.test(name) ? usualNameOf(name) : undefined;
  if (usual === undefined)
    throw invalidArgument(
      `time zone: expected a name of the IANA time zone database, such as Europe/Berlin, found ${visibleText(name)}`,
    );
  return usual.toLowerCase() === name.toLowerCase() ? usual : name;
}

/**
 * A time to the second with the names of its zone, such as `2026-12-01 14:05:09 CET (Europe/Berlin)`.
 * @param zone an IANA name; UTC, or a name that is no longer known: `2026-12-01 13:05:09 UTC`
 */
export function timeInZone(time: Date, zone: string): string {
  const formats = zone === 'UTC' ? undefined : formatsOf(zone);
  if (formats === undefined) return `${time.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
  const [short = '', other = ''] = formats.map((format) => partsOf(format, time).get('timeZoneName'));
  const parts = partsOf(formats[0], time);
  const [year, month, day] = ['year', 'month', 'day'].map((name) => parts.get(name));
  const [hour, minute, second] = ['hour', 'minute', 'second'].map((name) => parts.get(name));
  return `${year}-${month}-${day} ${hour}:${minute}:${second} ${/^GMT./.test(short) ? other : short} (${zone})`;
}

type Formats = readonly [Intl.DateTimeFormat, Intl.DateTimeFormat];

const known = new Map<string, Formats | undefined>();

/** Each language has short names for the zones of its countries only, and "GMT+1" for others. */
function formatsOf(zone: string): Formats | undefined {
  if (!known.has(zone)) known.set(zone, isZone(zone) ? [formatOf('en-US', zone), formatOf('en-GB', zone)] : undefined);
  return known.get(zone);
}

const isZone = (name: string): boolean => usualNameOf(name) !== undefined;

function formatOf(language: string, timeZone: string): Intl.DateTimeFormat {
  const date = { year: 'numeric', month: '2-digit', day: '2-digit' } as const;
  const time = { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' } as const;
  return new Intl.DateTimeFormat(language, { ...date, ...time, timeZoneName: 'short', timeZone });
}

function partsOf(format: Intl.DateTimeFormat, time: Date): ReadonlyMap<string, string> {
  return new Map(format.formatToParts(time).map(({ type, value }) => [type, value]));
}

/** undefined: there is no such zone. */
function usualNameOf(zone: string): string | undefined {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone;
  } catch (caught) {
    if (caught instanceof RangeError) return undefined;
    throw caught;
  }
}
