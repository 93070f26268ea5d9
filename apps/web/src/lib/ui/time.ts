/** Times for people: short, and the exact time in the tooltip; in the zone of the setting (`zone.ts`). */
import { type Timestamp, timestampDate } from '@bufbuild/protobuf/wkt';
import { zoneName } from './zone.ts';

export function dateOf(time: Timestamp | undefined): Date | undefined {
  return time === undefined ? undefined : timestampDate(time);
}

/** Such as "4 s ago", "12 min ago", "3 h ago", "5 d ago". */
export function ago(date: Date | undefined, nowMs: number): string {
  if (date === undefined) return 'never';
  const seconds = Math.max(0, Math.round((nowMs - date.getTime()) / 1_000));
  if (seconds < 2) return 'now';
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)} h ago`;
  return `${Math.floor(seconds / 86_400)} d ago`;
}

const time = { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' } as const;
const day = { year: 'numeric', month: 'short', day: 'numeric' } as const;

type Format = (date: Date) => string;

/** A format in the zone of the setting. */
function inZone(options: Intl.DateTimeFormatOptions): Format {
  const formats = new Map<string | undefined, Intl.DateTimeFormat>();
  return (date) => {
    const zone = zoneName();
    const format = formats.get(zone) ?? new Intl.DateTimeFormat(undefined, { ...options, timeZone: zone });
    formats.set(zone, format);
    return format.format(date);
  };
}

const clock = inZone(time);
const date = inZone(day);
const full = inZone({ ...day, ...time, timeZoneName: 'short' });

/** To the millisecond, without a date. */
export function clockTime(date: Date): string {
  return `${clock(date)}.${String(date.getMilliseconds()).padStart(3, '0')}`;
}

/** The date, as `fullTime` writes it. */
export function dayOf(of: Date): string {
  return date(of);
}

/** Date and time to the second, with the name of the zone. */
export function fullTime(date: Date | undefined): string {
  return date === undefined ? '' : full(date);
}
