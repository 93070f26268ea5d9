/** $cmp, $eq, $ne, $gt, $gte, $lt, $lte: any two values compare, by the BSON order. */

import { compareValues } from '../../bson/compare.ts';
import { Int32 } from '../../bson/value.ts';
import type { Eager } from './registry.ts';

export const comparison: Readonly<Record<string, Eager>> = {
  'agg.cmp': (a, b) => new Int32(Math.sign(compareValues(a, b))),
  'agg.eq': (a, b) => compareValues(a, b) === 0,
  'agg.ne': (a, b) => compareValues(a, b) !== 0,
  'agg.gt': (a, b) => compareValues(a, b) > 0,
  'agg.gte': (a, b) => compareValues(a, b) >= 0,
  'agg.lt': (a, b) => compareValues(a, b) < 0,
  'agg.lte': (a, b) => compareValues(a, b) <= 0,
};
