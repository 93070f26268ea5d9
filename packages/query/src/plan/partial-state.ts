/**
 * The states of accumulators that decompose: rows may be folded in parts, which are then merged in the order of the rows.
 *
 * A partial group is `{_id: key, <name>: state, …}`, with the fields in the order of `into`. The key is that of the group's
 * first row: among equal keys of different types (1, 1.0, -0.0), the first one counts. States:
 *
 * | accumulator              | state                                                                                            |
 * |--------------------------|--------------------------------------------------------------------------------------------------|
 * | count, sql.count         | how many, as a long or int                                                                       |
 * | first, last              | the value of the first (last) row, null if it is missing                                         |
 * | min, max                 | the least (greatest) value, the first of equal ones; null if all are null or missing             |
 * | min, max with `by`       | null, or `{k: [keys], v: value}`: among equal values the one whose row is first in the order `by`|
 * | top, bottom              | `{k: [keys], v: value}` of the first (last) row by `by`, also among rows with equal keys         |
 * | firstN, lastN            | the values of the first (last) rows, in their order, null for a missing one                      |
 * | minN, maxN               | the least (greatest) values, the least (greatest) first; among equal ones those of the first rows|
 * | topN, bottomN            | `[{k: [keys], v: value}, …]` of the first (last) rows by `by`, in that order                     |
 * | median, percentile       | the numbers except NaN, packed (eight bytes each); or packed `{values, counts}`: each number once|
 * | addToSet, setSize        | `{doubles?, times?: packed, values?: […]}`: distinct values, in any order, the first of equal ones |
 * | any with `distinct`      | the same                                                                                         |
 * | sum, avg                 | `{n, kinds, whole?, parts?, rest?, special?, decimal?}`, see below                               |
 *
 * `k` holds the row's sort keys (execute/stages/sort-keys.ts): a missing one is null, an array is its least (descending: greatest)
 * element. A missing `v` is null.
 *
 * For sums, `n` (long or int) is the count of numbers; other values are ignored. `kinds` (int) is 1 if there was a double, plus 2
 * if there was a long. `whole` (long; as text if it needs more bits) is the exact sum of ints and longs, `parts` are
 * doubles whose exact sum is that of the finite doubles, in any split. `special` is the sum of NaN and infinities. `rest` (a
 * whole number of 2^-1074, as text) and `decimal` (`<coefficient>E<exponent>`, NaN, ±Infinity) are added by the
 * executor. An absent field contributes nothing: 3 doubles are `{n: 3, kinds: 1, parts: [0.25]}`.
 */

import { accumulatorOf } from '../accumulators/registry.ts';
import type { Accumulator } from './accumulator.ts';

export function decomposes({ fn, distinct }: Accumulator): boolean {
  const { decomposes: how } = accumulatorOf(fn);
  return distinct === true ? how === 'distinct' : how !== undefined;
}
