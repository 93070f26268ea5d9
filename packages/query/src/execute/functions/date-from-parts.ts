/** $dateFromParts: numbers beyond their ranges count on into the next unit. */

import { isNullish, isNumeric, typeName } from '../../bson/type.ts';
import { BsonDate, type Maybe } from '../../bson/value.ts';
import { QueryError } from '../../query-error.ts';
import { dayMs, daysOf, daysOfIsoWeek } from './calendar.ts';
import { plainNumber } from './number.ts';
import { toInstant, zoneOf } from './time-zone.ts';

/** Arguments: year, month, day (or those of the ISO week), hour, minute, second, millisecond, timezone. */
export function dateFromParts(iso: boolean, args: readonly Maybe[]): Maybe {
  const timezone = args[7];
  const names = iso ? ['isoWeekYear', 'isoWeek', 'isoDayOfWeek'] : ['year', 'month', 'day'];
  const parts: number[] = [];
  for (const [index, name] of [...names, 'hour', 'minute', 'second', 'millisecond'].entries()) {
    const value = args[index];
    if (isNullish(value)) return null;
    parts.push(wholeOf(value, name));
  }
  if (isNullish(timezone)) return null;
  const [year, second, third, hour, minute, seconds, millisecond] = parts as [
    number,
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  if (year < 1 || year > 9999) {
    throw new QueryError(iso ? 31095 : 40523, `'${names[0]}' must be a whole number from 1 to 9999, found ${year}`);
  }
  for (const [index, name] of [...names.slice(1), 'hour', 'minute'].entries()) {
    const number = parts[index + 1]!;
    if (number < -32_768 || number > 32_767) {
      throw new QueryError(31034, `'${name}' must be a whole number from -32768 to 32767, found ${number}`);
    }
  }
  const zone = zoneOf(timezone);
  const days = iso ? daysOfIsoWeek(year, second, third) : daysOf(year, second, third);
  const local = days * dayMs + hour * 3_600_000 + minute * 60_000 + seconds * 1000 + millisecond;
  return new BsonDate(toInstant(zone, local));
}

function wholeOf(value: Maybe, name: string): number {
  const number = isNumeric(value) ? Number(plainNumber(value, name, 40515)) : Number.NaN;
  if (Number.isInteger(number)) return number;
  throw new QueryError(
    40515,
    `'${name}' must evaluate to a whole number, found ${isNumeric(value) ? number : typeName(value)}`,
  );
}
