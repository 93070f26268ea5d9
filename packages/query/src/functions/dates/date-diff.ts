/** $dateDiff: how many boundaries of a unit lie between two instants, on the clock of the zone. */

import { isNullish } from '../../bson/type.ts';
import type { Maybe } from '../../bson/value.ts';
import { kindOf } from '../../sql/types/kind.ts';
import { dateType, stringType } from '../../sql/types/signature.ts';
import type { Functions } from '../definition.ts';
import { fieldsInOrder } from '../named-fields.ts';
import { civilOf } from './calendar.ts';
import { splitDays } from './date-parts.ts';
import { unitMonths, unitMs, unitOf, weekStart } from './date-unit.ts';
import { millisecondsOf } from './date-value.ts';
import { zoneOf } from './time-zone.ts';

export const dateDiffFunctions: Functions = {
  'agg.dateDiff': {
    mql: fieldsInOrder('agg.dateDiff', {
      required: { startDate: 5166303, endDate: 5166304, unit: 5166305 },
      defaults: { timezone: 'UTC', startOfWeek: 'sunday' },
      notObject: 5166301,
      unknown: 5166302,
    }),
    sql: { takes: [dateType, dateType, stringType, stringType, stringType], gives: kindOf('long', 'null') },
    eager: dateDiff,
  },
};

/** Arguments: startDate, endDate, unit, timezone, startOfWeek. */
function dateDiff(from: Maybe, to: Maybe, unitText: Maybe, timezone: Maybe, startOfWeek: Maybe): Maybe {
  if (isNullish(from) || isNullish(to) || isNullish(unitText) || isNullish(timezone)) return null;
  const [start, end] = [millisecondsOf(from, 5166307), millisecondsOf(to, 5166307)];
  const unit = unitOf(unitText, '$dateDiff');
  if (unit === 'week' && isNullish(startOfWeek)) return null;
  const firstDay = unit === 'week' ? weekStart(startOfWeek, '$dateDiff') : 0;
  const zone = zoneOf(timezone);
  const [startOffset, endOffset] = [zone.offsetAt(start), zone.offsetAt(end)];
  const months = unitMonths[unit];
  const [a, b] = [splitDays(start + startOffset).days, splitDays(end + endOffset).days];
  if (months !== undefined) return BigInt(monthBins(b, months) - monthBins(a, months));
  if (unit === 'day') return BigInt(b - a);
  // 1970-01-01 was a Thursday.
  if (unit === 'week') return BigInt(Math.floor((b + 4 - firstDay) / 7) - Math.floor((a + 4 - firstDay) / 7));
  const step = unitMs[unit]!;
  const boundaries = Math.floor((end + endOffset) / step) - Math.floor((start + startOffset) / step);
  // Hours by which clocks were set forward or back did not elapse.
  return BigInt(boundaries - Math.trunc((endOffset - startOffset) / step));
}

function monthBins(days: number, months: number): number {
  const { year, month } = civilOf(days);
  return Math.floor((year * 12 + month - 1) / months);
}
