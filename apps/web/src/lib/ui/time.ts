/** Times for people: short, local, and the exact time in the tooltip. */
import { type Timestamp, timestampDate } from '@bufbuild/protobuf/wkt';

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

const clock = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
});
const full = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium', hourCycle: 'h23' });

export function clockTime(date: Date): string {
  return `${clock.format(date)}.${String(date.getMilliseconds()).padStart(3, '0')}`;
}

export function fullTime(date: Date | undefined): string {
  return date === undefined ? '' : full.format(date);
}
