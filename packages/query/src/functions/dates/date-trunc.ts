/** $dateTrunc: bins count from 2000-01-01T00:00 in the zone, weeks from the first start of a week after it. */

import { isNullish, isNumeric, typeName } from '../../bson/type.ts';
import { BsonDate, type Maybe } from '../../bson/value.ts';
import { QueryError } from '../../query-error.ts';
import { kindOf, numbers } from '../../sql/types/kind.ts';
import { dateType, stringType } from '../../sql/types/signature.ts';
import type { Functions } from '../definition.ts';
import { fieldsInOrder } from '../named-fields.ts';
import { plainNumber } from '../numbers/number.ts';
import { civilOf, dayMs, daysOf } from './calendar.ts';
import { splitDays } from './date-parts.ts';
import { type Unit, unitMonths, unitMs, unitOf, weekStart } from './date-unit.ts';
import { millisecondsOf } from './date-value.ts';
import { toInstant, zoneOf } from './time-zone.ts';

const name = '$dateTrunc';
/** A Saturday. */
const originDays = daysOf(2000, 1, 1);

export const dateTruncFunctions: Functions = {
  'agg.dateTrunc': {
    mql: fieldsInOrder('agg.dateTrunc', {
      required: { date: 5439009, unit: 5439010 },
      defaults: { binSize: 1, timezone: 'UTC', startOfWeek: 'sunday' },
      notObject: 5439007,
      unknown: 5439008,
    }),
    sql: { takes: [dateType, stringType, numbers, stringType, stringType], gives: kindOf('date', 'null') },
    size: 'bounded',
    folding: 'early',
    numberTypes: 'none',
    eager: dateTrunc,
  },
};

/** Arguments: date, unit, binSize, timezone, startOfWeek. */
function dateTrunc(value: Maybe, unitText: Maybe, binSize: Maybe, timezone: Maybe, startOfWeek: Maybe): Maybe {
  if (isNullish(value) || isNullish(unitText) || isNullish(binSize) || isNullish(timezone)) return null;
  if (isNullish(startOfWeek)) return null;
  const instant = millisecondsOf(value, 5166307);
  const unit = unitOf(unitText, name);
  const size = binSizeOf(binSize);
  const start = unit === 'week' ? weekStart(startOfWeek, name) : 0;
  const zone = zoneOf(timezone);
  // Bins of hours and shorter units always have the same length, even when clocks change.
  const short = unitMonths[unit] === undefined && unit !== 'day' && unit !== 'week';
  const offset = zone.offsetAt(short ? originDays * dayMs : instant);
  const truncated = truncate(instant + offset, unit, size, start);
  return new BsonDate(short ? truncated - offset : toInstant(zone, truncated));
}

function binSizeOf(value: Maybe): number {
  if (!isNumeric(value))
    throw new QueryError(5439017, `${name}: binSize must be a whole number, found ${typeName(value)}`);
  const size = Number(plainNumber(value, name, 5439017));
  if (!Number.isInteger(size)) throw new QueryError(5439017, `${name}: binSize must be a whole number, found ${size}`);
  if (size <= 0) throw new QueryError(5439018, `${name}: binSize must be positive, found ${size}`);
  return size;
}

function truncate(local: number, unit: Unit, size: number, start: number): number {
  const months = unitMonths[unit];
  if (months !== undefined) {
    const { year, month } = civilOf(splitDays(local).days);
    const count = (year - 2000) * 12 + month - 1;
    return daysOf(2000, 1 + Math.floor(count / (months * size)) * months * size, 1) * dayMs;
  }
  const step = unitMs[unit]! * size;
  const origin = (originDays + (unit === 'week' ? (start + 1) % 7 : 0)) * dayMs;
  return origin + Math.floor((local - origin) / step) * step;
}
