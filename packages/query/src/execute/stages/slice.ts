/** $skip and $limit; once the limit is reached the input is read no further. */

import type { Stage } from '../../plan/stage.ts';
import type { Row } from '../row.ts';

export async function* runSlice(stage: Stage & { k: 'slice' }, input: AsyncIterable<Row[]>): AsyncIterable<Row[]> {
  let skip = stage.skip;
  let left = stage.limit ?? Number.POSITIVE_INFINITY;
  if (left === 0) return;
  for await (const rows of input) {
    const from = Math.min(skip, rows.length);
    skip -= from;
    const taken = rows.slice(from, from + left);
    left -= taken.length;
    if (taken.length > 0) yield taken;
    if (left <= 0) return;
  }
}
