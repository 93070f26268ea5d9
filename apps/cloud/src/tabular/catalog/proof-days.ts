/**
 * Divides the proofs of the catalog by day, so that a query proves only the days that it touches. Each file belongs to one set of its
 * organization: that of its capture day if the times of its rows follow from the day, otherwise that of `anyDay`, which every query proves.
 */
import { dayUs } from '../../metadata/row-checks/checked-table.ts';
import { dayNumber, dayText } from '../../reading-codec/capture-day.ts';
import type { TabularFilesTable } from '../store.ts';
import type { RowFilter, TimeRange } from './row-filter.ts';

/** The set of the files whose times can be anything, such as those of machines with a wrong clock. */
export const anyDay = '';
const [firstDay, lastDay] = ['0000-00-00', '9999-99-99'];

/** Days "YYYY-MM-DD", both included; no day is in it if `from` is after `to`. */
export interface ProofDays {
  readonly from: string;
  readonly to: string;
}

/** How far time_requested may be from the capture day, which is that of time_received. */
const requestedSlackDays = 1;

export type DatedFile = Pick<
  TabularFilesTable,
  'capture_day' | 'min_time_received' | 'max_time_received' | 'min_time_requested' | 'max_time_requested'
>;

/** The set that a file belongs to: its capture day, or `anyDay`. */
export function proofDayOf(file: DatedFile): string {
  const day = file.capture_day;
  if (!isDay(day)) return anyDay;
  const startUs = dayNumber(day) * dayUs;
  if (!isWithin(file.min_time_received, file.max_time_received, startUs, startUs + dayUs)) return anyDay;
  // Where no row has time_requested, no query from a certain time on can match.
  const hasNone = file.min_time_requested === null && file.max_time_requested === null;
  const slackUs = requestedSlackDays * dayUs;
  return hasNone ||
    isWithin(file.min_time_requested, file.max_time_requested, startUs - slackUs, startUs + dayUs + slackUs)
    ? day
    : anyDay;
}

function isWithin(min: number | null, max: number | null, fromUs: number, beforeUs: number): boolean {
  return min !== null && max !== null && min >= fromUs && max < beforeUs;
}

/** The days whose files can hold rows of the filter, besides the files of `anyDay`; undefined: all. */
export function proofDaysOf({ columns: { capture_day: days }, times }: RowFilter): ProofDays | undefined {
  let [from, to] = [firstDay, lastDay];
  const narrow = (days: Partial<ProofDays>): void => {
    if (days.from !== undefined && days.from > from) from = days.from;
    if (days.to !== undefined && days.to < to) to = days.to;
  };
  if (days?.in !== undefined) {
    const listed = days.in.filter(isDay).toSorted();
    narrow({ from: listed[0] ?? lastDay, to: listed.at(-1) ?? firstDay });
  }
  if (days?.from !== undefined && isDay(days.from)) narrow({ from: days.from });
  if (days?.to !== undefined && isDay(days.to)) narrow({ to: days.to });
  narrow(daysOf(times.time_received, 0));
  // Without `from`, rows that lack the time match too, on any day.
  if (times.time_requested?.from !== undefined) narrow(daysOf(times.time_requested, requestedSlackDays));
  return from === firstDay && to === lastDay ? undefined : { from, to };
}

function daysOf(range: TimeRange | undefined, slackDays: number): Partial<ProofDays> {
  const { from, to } = range ?? {};
  return {
    ...(from !== undefined && { from: dayOf(from, -slackDays) }),
    ...(to !== undefined && { to: dayOf(to, slackDays) }),
  };
}

const limits = { least: dayNumber('0001-01-01'), greatest: dayNumber('9999-12-31') };

function dayOf(us: bigint, more: number): string {
  const day = Math.floor(Number(us) / dayUs) + more;
  return day < limits.least ? firstDay : day > limits.greatest ? lastDay : dayText(day);
}

function isDay(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(dayNumber(text));
}
