/** $range. */

import { Int32 } from '../../bson/value.ts';
import { maxValueBytes, tooLarge } from '../../execute/limits/size-limits.ts';
import { QueryError } from '../../query-error.ts';
import { eager, type Functions } from '../definition.ts';
import { requireInt32 } from '../numbers/whole-int32.ts';

/** Minimum bytes of a number in the array; checked before the array is built. */
const bytesOfNumber = 24;

export const arrayRange: Functions = {
  'agg.range': eager({ mql: [2, 3], size: 'grows', folding: 'never' }, (...args) => {
    const start = requireInt32(args[0], 'the starting value of $range', 34444, 34443);
    const end = requireInt32(args[1], 'the ending value of $range', 34446, 34445);
    const step = args.length > 2 ? requireInt32(args[2], 'the step value of $range', 34448, 34447) : 1;
    if (step === 0) throw new QueryError(34449, '$range requires a non-zero step value');
    const count = Math.max(0, Math.ceil((end - start) / step));
    if (count * bytesOfNumber > maxValueBytes) throw tooLarge();
    return Array.from({ length: count }, (_none, index) => new Int32(start + index * step));
  }),
};
