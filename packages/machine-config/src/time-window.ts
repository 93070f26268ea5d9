/** The rule `sync_rules.time_window`: sync only at certain times of the machine's local time. Pure. */
import { invalidArgument, type PlatformError } from '@platform/base';

export interface TimeWindow {
  /** Minutes after midnight. */
  readonly startMinute: number;
  /** At or before the start: on the next day. */
  readonly endMinute: number;
  /** Days on which the window begins; 0 is Sunday. Empty: every day. */
  readonly days: readonly number[];
}

const dayNames = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const minutesOfDay = 1_440;

/** @throws invalid_argument that names the key */
export function readTimeWindow(given: {
  readonly start?: unknown;
  readonly end?: unknown;
  readonly days?: unknown;
}): TimeWindow {
  const { start, end, days = [] } = given;
  if (!Array.isArray(days)) throw wrong('days', 'a list of days such as ["mon", "tue"]', days);
  return {
    startMinute: minuteOf('start', start),
    endMinute: minuteOf('end', end),
    days: days.map((day: unknown) => {
      const index = typeof day === 'string' ? dayNames.indexOf(day.toLowerCase().slice(0, 3)) : -1;
      if (index < 0) throw wrong('days', `days out of ${dayNames.join(', ')}`, day);
      return index;
    }),
  };
}

/** @param day of the week, 0 is Sunday @param minute after midnight, both in local time */
export function isInWindow({ startMinute, endMinute, days }: TimeWindow, day: number, minute: number): boolean {
  const begins = (on: number): boolean => days.length === 0 || days.includes(on);
  if (startMinute < endMinute) return begins(day) && minute >= startMinute && minute < endMinute;
  const yesterday = (day + 6) % 7;
  return (begins(day) && minute >= startMinute) || (begins(yesterday) && minute < endMinute);
}

export function windowText({ startMinute, endMinute, days }: TimeWindow): string {
  const on = days.length === 0 ? '' : ` on ${days.map((day) => dayNames[day]).join(', ')}`;
  return `${timeText(startMinute)} to ${timeText(endMinute)}${on}`;
}

function minuteOf(key: string, given: unknown): number {
  const [, hours, minutes] = /^([01]?\d|2[0-4]):([0-5]\d)$/.exec(typeof given === 'string' ? given : '') ?? [];
  const minute = Number(hours) * 60 + Number(minutes);
  if (Number.isNaN(minute) || minute > minutesOfDay) throw wrong(key, 'a time such as "22:00"', given);
  return minute;
}

function timeText(minute: number): string {
  return `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`;
}

function wrong(key: string, expected: string, found: unknown): PlatformError {
  return invalidArgument(
    `sync_rules.time_window.${key}: expected ${expected}, found ${JSON.stringify(found) ?? 'nothing'}`,
  );
}
