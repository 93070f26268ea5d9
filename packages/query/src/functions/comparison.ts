/** $cmp, $eq, $ne, $gt, $gte, $lt, $lte: any two values compare, by the BSON order. */

import { compareValues, comparisons } from '../bson/compare.ts';
import { Int32 } from '../bson/value.ts';
import { type Eager, eager, type FunctionDefinition, type Functions } from './definition.ts';

export const comparison: Functions = {
  'agg.cmp': eager({ mql: 2, size: 'bounded', neverFails: true }, (a, b) => new Int32(Math.sign(compareValues(a, b)))),
  ...Object.fromEntries(Object.entries(comparisons).map(([name, holds]) => [`agg.${name}`, compared(holds)])),
};

function compared(holds: (order: number) => boolean): FunctionDefinition {
  const eager: Eager = (a, b) => holds(compareValues(a, b));
  return { mql: 2, size: 'bounded', neverFails: true, numberTypes: 'none', eager };
}
