/** Units of time as users write them. */

import { describe } from '../../bson/describe.ts';
import type { BsonValue } from '../../bson/value.ts';
import { isUnit, type Unit, units } from '../../functions/dates/date-unit.ts';
import { malformed } from '../../query-error.ts';

export function parseTimeUnit(value: BsonValue): Unit {
  if (typeof value !== 'string') throw malformed(`'unit' must be a string, found ${describe(value)}`);
  if (isUnit(value)) return value;
  throw malformed(`unknown time unit ${describe(value)}`, `the units are ${[...units].join(', ')}`);
}
