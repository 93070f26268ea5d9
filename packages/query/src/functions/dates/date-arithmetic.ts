/** $dateAdd, $dateSubtract and $dateDiff. */
import { isNullish, isNumeric, typeName } from '../../bson/type.ts';
import { BsonDate, type Maybe } from '../../bson/value.ts';
import { QueryError } from '../../query-error.ts';
import { kindOf, wholeNumbers } from '../../sql/types/kind.ts';
import { dateType, stringType } from '../../sql/types/signature.ts';
import type { FunctionDefinition, Functions } from '../definition.ts';
import { type Fields, fieldsInOrder } from '../named-fields.ts';
import { exactWhole, maxLong, minLong } from '../numbers/number.ts';
import { civilOf, dayMs, daysOf, daysOfMonth } from './calendar.ts';
import { splitDays } from './date-parts.ts';
import { type Unit, unitMonths, unitMs, unitOf, weekStart } from './date-unit.ts';
import { millisecondsOf } from './date-value.ts';
import { toInstant, type Zone, zoneOf } from './time-zone.ts';

const fields: Fields = {
  required: { startDate: 5166402, unit: 5166402, amount: 5166402 },
  defaults: { timezone: 'UTC' },
  notObject: 5166400,
  unknown: 5166401,
};

/** $dateAdd and $dateSubtract: days and longer units on the clock of the zone, shorter ones in elapsed time. */
export const dateShiftFunctions: Functions = {
  'agg.dateAdd': {
    ...shift('$dateAdd'),
    sql: { takes: [dateType, stringType, wholeNumbers, stringType], gives: kindOf('date', 'null') },
  },
  'agg.dateSubtract': shift('$dateSubtract'),
};

function shift(name: '$dateAdd' | '$dateSubtract'): FunctionDefinition {
  return {
    mql: fieldsInOrder(`agg.${name.slice(1)}`, fields),
    folding: 'early',
    eager: (...args) => shiftDate(name, args),
  };
}

/** Arguments: startDate, unit, amount, timezone. */
function shiftDate(name: '$dateAdd' | '$dateSubtract', args: readonly Maybe[]): Maybe {
  const [start, unitText, amountValue, timezone] = args;
  if (isNullish(start) || isNullish(unitText) || isNullish(amountValue) || isNullish(timezone)) return null;
  const instant = millisecondsOf(start, 5166403);
  const unit = unitOf(unitText, name);
  const amount = amountOf(amountValue, name);
  const zone = zoneOf(timezone);
  const most = mostUnits(unit);
  if (amount > most || amount < -most) {
    throw new QueryError(5976500, `${name}: an amount of ${amount} ${unit}s is out of range`);
  }
  if (name === '$dateSubtract' && amount === minLong) {
    throw new QueryError(6045000, `${name}: an amount of ${amount} is out of range`);
  }
  const signed = name === '$dateAdd' ? amount : -amount;
  const ms = shifted(instant, unit, signed, zone);
  if (ms === undefined) throw new QueryError(5166406, `${name} overflowed`);
  return new BsonDate(ms);
}

function amountOf(value: Maybe, name: string): bigint {
  const fail = (): QueryError =>
    new QueryError(5166405, `${name} expects an amount that is a whole number of 64 bits, found ${typeName(value)}`);
  if (!isNumeric(value)) throw fail();
  const amount = exactWhole(value);
  if (amount === undefined || amount < minLong || amount > maxLong) throw fail();
  return amount;
}

/** How many units 64 bits of milliseconds span. */
function mostUnits(unit: Unit): bigint {
  const years = 584_942_417n;
  const months = unitMonths[unit];
  if (months !== undefined) return (years * 12n) / BigInt(months);
  return 2n ** 64n / BigInt(unitMs[unit]!);
}

/** Undefined if 64 bits of milliseconds cannot represent it. */
export function shifted(instant: number, unit: Unit, amount: bigint, zone: Zone): number | undefined {
  const months = unitMonths[unit];
  if (months === undefined && unit !== 'day' && unit !== 'week') {
    return inRange(BigInt(instant) + amount * BigInt(unitMs[unit]!));
  }
  const { days, ms } = splitDays(instant + zone.offsetAt(instant));
  const count = Number(amount);
  const target = months === undefined ? days + (count * unitMs[unit]!) / dayMs : addMonths(days, count * months);
  if (inRange(BigInt(target) * BigInt(dayMs)) === undefined) return undefined;
  const local = target * dayMs + ms;
  // Without a shift, a clock time that occurs twice stays the same instant.
  return count === 0 ? instant : toInstant(zone, local);
}

function inRange(ms: bigint): number | undefined {
  return ms >= minLong && ms <= maxLong ? Number(ms) : undefined;
}

/** Takes the last day of the month if the month is too short. */
function addMonths(days: number, count: number): number {
  const { year, month, day } = civilOf(days);
  const months = year * 12 + month - 1 + count;
  const [newYear, newMonth] = [Math.floor(months / 12), (((months % 12) + 12) % 12) + 1];
  return daysOf(newYear, newMonth, Math.min(day, daysOfMonth(newYear, newMonth)));
}

/** $dateDiff: how many boundaries of a unit lie between two instants, on the clock of the zone. */
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
