/** The error of a query that needs a damaged or missing sealed file. */
import { dataLoss, dayMs, type PlatformError } from '@platform/base';
import type { HeldTimes } from '../catalog/row-filter.ts';

export interface DamagedFileRef {
  readonly file: string;
  readonly captureDay: string;
  /** Microseconds; absent or null: some rows have no time_received. */
  readonly timeReceived?: HeldTimes | undefined;
}

export function damagedFile(of: DamagedFileRef, reason: string): PlatformError {
  const { column, first, last, before, after } = rangeOf(of);
  return dataLoss(
    `readings whose ${column} is ${first === last ? first : `from ${first} to ${last}`} cannot be answered: the sealed file ${of.file} is damaged (${reason}). Meanwhile, queries work whose ${column} is at most ${before}, or at least ${after}, and queries about parts or components without readings in the file. The host administrator can see the damage in platform admin status and repair it with platform admin repair`,
  );
}

/**
 * The column by which the rows can be excluded, in milliseconds, as queries compare times; `before` and `after` are the adjacent values.
 */
function rangeOf({ captureDay, timeReceived: { min, max } = { min: null, max: null } }: DamagedFileRef) {
  const day = (offset: number): string =>
    new Date(Date.parse(captureDay) + offset * dayMs).toISOString().slice(0, 'YYYY-MM-DD'.length);
  if (min === null || max === null)
    return { column: 'capture_day', first: captureDay, last: captureDay, before: day(-1), after: day(1) };
  const time = (us: number, offsetMs = 0): string => new Date(Math.floor(us / 1_000) + offsetMs).toISOString();
  return { column: 'time_received', first: time(min), last: time(max), before: time(min, -1), after: time(max, 1) };
}

export const fileIsMissing = 'it is missing';
