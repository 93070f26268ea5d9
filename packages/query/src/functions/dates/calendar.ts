/** The proleptic Gregorian calendar in plain arithmetic, for all years that a date can represent. */

export const dayMs = 86_400_000;

export interface CivilDay {
  readonly year: number;
  /** 1 to 12. */
  readonly month: number;
  /** 1 to 31. */
  readonly day: number;
}

/** Days since 1970-01-01; months and days beyond their ranges carry over. */
export function daysOf(year: number, month: number, day: number): number {
  const months = year * 12 + month - 1;
  const y = Math.floor(months / 12);
  const m = months - y * 12;
  // Years start in March here, so that the leap day is the last day.
  const shifted = m < 2 ? y - 1 : y;
  const era = Math.floor(shifted / 400);
  const yearOfEra = shifted - era * 400;
  const dayOfYear = Math.floor((153 * ((m + 10) % 12) + 2) / 5);
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - 719_468 + day - 1;
}

export function civilOf(days: number): CivilDay {
  const z = days + 719_468;
  const era = Math.floor(z / 146_097);
  const dayOfEra = z - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const shifted = Math.floor((5 * dayOfYear + 2) / 153);
  const month = shifted < 10 ? shifted + 3 : shifted - 9;
  return {
    year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0),
    month,
    day: dayOfYear - Math.floor((153 * shifted + 2) / 5) + 1,
  };
}

export function daysOfMonth(year: number, month: number): number {
  return daysOf(year, month + 1, 1) - daysOf(year, month, 1);
}

/** 0 is Sunday. */
export function weekdayOf(days: number): number {
  return (((days + 4) % 7) + 7) % 7;
}

/** 1 to 366. */
export function dayOfYear(days: number): number {
  return days - daysOf(civilOf(days).year, 1, 1) + 1;
}

/** Weeks begin on Sunday; days before the first Sunday of a year are in week 0. */
export function weekOfYear(days: number): number {
  return Math.floor((dayOfYear(days) + 6 - weekdayOf(days)) / 7);
}

/** Day 1 is Monday; a week belongs to the year of its Thursday. */
export function isoWeekOf(days: number): { year: number; week: number; day: number } {
  const day = weekdayOf(days) || 7;
  const thursday = days + 4 - day;
  return { year: civilOf(thursday).year, week: Math.ceil(dayOfYear(thursday) / 7), day };
}

/** Days since 1970-01-01 for a day of an ISO week; numbers beyond their ranges carry over. */
export function daysOfIsoWeek(year: number, week: number, day: number): number {
  const fourth = daysOf(year, 1, 4);
  return fourth - ((weekdayOf(fourth) || 7) - 1) + (week - 1) * 7 + day - 1;
}
