/** Times as text: ISO 8601 in its common forms, and dates with names of months; without a zone, UTC. */

import { dayMs, daysOf, daysOfMonth } from './calendar.ts';
import { findZone, toInstant, utc, type Zone } from './time-zone.ts';

/** The content of a text; the zone is set only if the text names one. */
export interface WrittenTime {
  readonly localMs: number;
  readonly zone: Zone | undefined;
}

/** Milliseconds since 1970 UTC, or undefined for a text that is not a time. */
export function parseDate(text: string): number | undefined {
  const written = readTime(text);
  return written === undefined ? undefined : toInstant(written.zone ?? utc, written.localMs);
}

export const monthNames: readonly string[] =
  'January February March April May June July August September October November December'.split(' ');

/** 1 to 12, by the full name or its first three letters in any case. */
export function monthOf(name: string): number | undefined {
  const lower = name.toLowerCase();
  const index = monthNames.findIndex(
    (month) => month.toLowerCase() === lower || month.slice(0, 3).toLowerCase() === lower,
  );
  return index < 0 ? (lower === 'sept' ? 9 : undefined) : index + 1;
}

const maxLength = 200;
const weekday = '(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,?\\s+)?';

/** The named groups are year, month, name of the month and day. */
const dates: readonly RegExp[] = [
  /^(?<y>\d{4})-(?<m>\d{1,2})(?:-(?<d>\d{1,2}))?(?!\d)/,
  /^(?<y>\d{4})-(?<name>[a-z]{3,9})-(?<d>\d{1,2})(?!\d)/i,
  /^(?<y>\d{4})(?<m>\d{2})(?<d>\d{2})(?!\d)/,
  /^(?<y>\d{4})\/(?<m>\d{1,2})\/(?<d>\d{1,2})(?!\d)/,
  /^(?<m>\d{1,2})\/(?<d>\d{1,2})\/(?<y>\d{4})(?!\d)/,
  /^(?<d>\d{1,2})[.-](?<m>\d{1,2})[.-](?<y>\d{4})(?!\d)/,
  new RegExp(
    `^${weekday}(?<name>[a-z]{3,9})\\.?[\\s-]+(?<d>\\d{1,2})(?:st|nd|rd|th)?(?:,\\s*|\\s+|-)(?<y>\\d{4})(?!\\d)`,
    'i',
  ),
  new RegExp(
    `^${weekday}(?<d>\\d{1,2})(?:st|nd|rd|th)?[\\s-]*(?<name>[a-z]{3,9})\\.?,?[\\s-]*(?<y>\\d{4})(?!\\d)`,
    'i',
  ),
  // Without a day, the first of the month.
  /^(?<name>[a-z]{3,9})[\s.-]*(?<y>\d{4})(?!\d)/i,
  /^(?<y>\d{4})[\s.-]*(?<name>[a-z]{3,9})(?![a-z])/i,
];

const time =
  /^(?:t|,?[ \t\n\r]+|(?<=\d)t)(\d{1,2})(?::?(\d{2})(?::?(\d{2})(?:[.,:](\d{1,9}))?)?)?(?:\s?([ap])\.?m\.?(?!\S))?(?![\d:])/i;

export function readTime(text: string): WrittenTime | undefined {
  if (text.length > maxLength) return undefined;
  const trimmed = text.replace(/^[ \t\n\r\v\f\0\u00a0]+|[ \t\n\r\v\f\0\u00a0]+$/g, '');
  const day = readDay(trimmed);
  if (day === undefined) return undefined;
  const word = /^\s+(noon|midnight)\b/i.exec(day.rest);
  const rest =
    word === null ? day.rest : ` ${word[1]!.toLowerCase() === 'noon' ? 12 : 0}:00${day.rest.slice(word[0].length)}`;
  const clock = time.exec(rest);
  const ms = clock === null ? 0 : clockMs(clock);
  if (ms === undefined) return undefined;
  const zone = readZone(rest.slice(clock?.[0].length ?? 0).trim());
  return zone === null ? undefined : { localMs: day.days * dayMs + ms, zone };
}

function readDay(text: string): { days: number; rest: string } | undefined {
  for (const shape of dates) {
    const found = shape.exec(text);
    if (found === null) continue;
    const { y, m, d = '1', name } = found.groups as Readonly<Record<'y' | 'm' | 'd' | 'name', string | undefined>>;
    const month = name === undefined ? Number(m) : monthOf(name);
    const [year, day] = [Number(y), Number(d)];
    if (month === undefined || month < 1 || month > 12 || day < 1 || day > daysOfMonth(year, month)) continue;
    return { days: daysOf(year, month, day), rest: text.slice(found[0].length) };
  }
  return undefined;
}

function clockMs([text, hours, minutes, seconds = '0', fraction = '', half]: RegExpExecArray): number | undefined {
  // An hour alone needs a T before it, or am or pm after it.
  if (minutes === undefined && half === undefined && !/^t/i.test(text)) return undefined;
  let hour = Number(hours);
  if (half !== undefined) {
    if (hour < 1 || hour > 12) return undefined;
    hour = (hour % 12) + (half.toLowerCase() === 'p' ? 12 : 0);
  }
  const [minute, second] = [Number(minutes ?? 0), Number(seconds)];
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  const ms = Number(fraction.padEnd(3, '0').slice(0, 3));
  return hour * 3_600_000 + minute * 60_000 + second * 1000 + ms;
}

const abbreviations: Readonly<Record<string, number>> = {
  est: -5,
  edt: -4,
  cst: -6,
  cdt: -5,
  mst: -7,
  mdt: -6,
  pst: -8,
  pdt: -7,
  akst: -9,
  akdt: -8,
  hst: -10,
  wet: 0,
  west: 1,
  bst: 1,
  cet: 1,
  cest: 2,
  eet: 2,
  eest: 3,
  msk: 3,
  jst: 9,
};

/** Undefined for an empty text, null for an invalid zone. */
function readZone(text: string): Zone | undefined | null {
  if (text === '') return undefined;
  if (/^(z|utc|gmt)$/i.test(text)) return utc;
  const hours = abbreviations[text.toLowerCase()];
  if (hours !== undefined) return { isUtc: false, offsetAt: () => hours * 3_600_000 };
  const offset = /^(?:utc|gmt)?([+-]\d{1,2}(?::?\d{2})?)$/i.exec(text)?.[1];
  return findZone(offset?.replace(/^([+-])(\d)(?!\d)/, '$10$2') ?? text) ?? null;
}
