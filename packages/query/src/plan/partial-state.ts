/**
 * Which accumulators decompose: rows may be folded part by part, and the parts then merged, in the order of the rows.
 *
 * A partial group is `{_id: key, <name>: state, …}`, the fields in the order of `into`. The key is that of the group's first
 * row: of equal keys of different types (1, 1.0, -0.0) the first one names the group. States:
 *
 * | accumulator              | state                                                                                            |
 * |--------------------------|--------------------------------------------------------------------------------------------------|
 * | count, sql.count         | how many, as a long or int                                                                       |
 * | first, last              | the value of the first (last) row, null where it is missing                                      |
 * | min, max                 | the least (greatest) value, of equal ones the first; null if all are null or missing             |
 * | min, max with `by`       | null, or `{k: [keys], v: value}`: of equal values the one whose row comes first by `by`          |
 * | top, bottom              | `{k: [keys], v: value}` of the first (last) row by `by`, of rows with equal keys the first (last)|
 * | firstN, lastN            | the values of the first (last) rows, in their order, null where one is missing                   |
 * | minN, maxN               | the least (greatest) values, from the least (greatest) on; of equal ones those of the first rows |
 * | topN, bottomN            | `[{k: [keys], v: value}, …]` of the first (last) rows by `by`, in that order                     |
 * | median, percentile       | the numbers, packed: a binary of eight bytes each; NaN is none. Or `{values, counts}`, packed: each number once, and how often it is there |
 * | addToSet, setSize        | `{doubles?, times?: packed, values?: […]}`: each value once, in any order, the first of equal ones |
 * | any with `distinct`      | the same                                                                                         |
 * | sum, avg                 | `{n, kinds, whole?, parts?, rest?, special?, decimal?}`, see below                               |
 *
 * `k` holds the row's sort keys (execute/stages/sort-keys.ts): a missing one is null, an array is its least (descending: greatest)
 * element. A missing `v` is null.
 *
 * Of a sum, `n` (long or int) says how many numbers were added, all else is passed over. `kinds` (int) adds up 1 if a double
 * was among them, 2 for a long. `whole` (long; as text if it needs more bits) is the exact sum of ints and longs, `parts` are
 * doubles whose exact sum is that of the finite doubles, in any split. `special` is the sum of NaN and infinities. `rest` (a
 * whole number of 2^-1074, as text) and `decimal` (`<coefficient>E<exponent>`, NaN, ±Infinity) are what the executor adds to
 * them. Absent means none of it: 3 doubles are `{n: 3, kinds: 1, parts: [0.25]}`.
 */

import { accumulatorOf } from '../accumulators/registry.ts';
import type { Accumulator } from './stage.ts';

export function decomposes({ fn, distinct }: Accumulator): boolean {
  const { decomposes: how } = accumulatorOf(fn);
  return distinct === true ? how === 'distinct' : how !== undefined;
}
