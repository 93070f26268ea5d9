/** $range. */

import { describe } from '../../bson/describe.ts';
import { isNumeric, typeName } from '../../bson/type.ts';
import { Int32, type Maybe } from '../../bson/value.ts';
import { maxValueBytes, tooLarge } from '../../execute/limits/size-limits.ts';
import { QueryError } from '../../query-error.ts';
import { eager, type Functions } from '../definition.ts';
import { wholeInt32 } from '../numbers/whole-int32.ts';

/** What a number of the array takes at least; found out before the array is made. */
const bytesOfNumber = 24;

export const arrayRange: Functions = {
  'agg.range': eager({ mql: [2, 3], size: 'grows', folding: 'never' }, (...args) => {
    const start = whole(args[0], 'starting value', 34443, 34444);
    const end = whole(args[1], 'ending value', 34445, 34446);
    const step = args.length > 2 ? whole(args[2], 'step value', 34447, 34448) : 1;
    if (step === 0) throw new QueryError(34449, '$range requires a non-zero step value');
    const count = Math.max(0, Math.ceil((end - start) / step));
    if (count * bytesOfNumber > maxValueBytes) throw tooLarge();
    return Array.from({ length: count }, (_none, index) => new Int32(start + index * step));
  }),
};

function whole(value: Maybe, what: string, notNumber: number, notWhole: number): number {
  if (!isNumeric(value)) throw new QueryError(notNumber, `$range requires a numeric ${what}, found ${typeName(value)}`);
  const number = wholeInt32(value);
  if (number === undefined)
    throw new QueryError(notWhole, `$range requires a 32-bit whole ${what}, found ${describe(value)}`);
  return number;
}
