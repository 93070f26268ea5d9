/** Adds units to a time, in UTC. A day that the month does not have becomes its last day. */

import { shifted } from '../../functions/dates/date-arithmetic.ts';
import type { Unit } from '../../functions/dates/date-unit.ts';
import { type Zone, zoneOf } from '../../functions/dates/time-zone.ts';
import { QueryError } from '../../query-error.ts';

const utc: Zone = zoneOf('UTC');

/** @param amount a whole number. @throws QueryError Overflow when 64 bits of milliseconds do not hold the time. */
export function addTime(ms: number, unit: Unit, amount: number): number {
  const result = shifted(ms, unit, BigInt(amount), utc);
  if (result === undefined) throw new QueryError('Overflow', 'date overflow');
  return result;
}
