/** Units of time as users write them. */

import { describe } from '../../bson/describe.ts';
import type { BsonValue } from '../../bson/value.ts';
import { type TimeUnit, timeUnits } from '../../plan/window.ts';
import { QueryError } from '../../query-error.ts';

export function parseTimeUnit(value: BsonValue, at: string): TimeUnit {
  if (typeof value !== 'string') {
    throw new QueryError('FailedToParse', `'unit' must be a string, found ${describe(value)}`, { path: at });
  }
  const unit = timeUnits.find((known) => known === value);
  if (unit === undefined) {
    throw new QueryError('FailedToParse', `unknown time unit ${describe(value)}`, {
      path: at,
      hint: `the units are ${timeUnits.join(', ')}`,
    });
  }
  return unit;
}
