/** Moves a fold along the windows of the rows: entering values are added before leaving values are removed. */

import type { Extent } from './extent.ts';

export function slide(
  extent: (index: number) => Extent,
  add: (index: number) => void,
  remove: (index: number) => void,
): (index: number) => Extent {
  let from = 0;
  let to = 0;
  return (index) => {
    const next = extent(index);
    // Rows between two disjoint windows were in neither.
    const skipped = next.from > to;
    if (skipped) {
      while (from < to) remove(from++);
      from = to = next.from;
    }
    while (to < next.to) add(to++);
    while (from < Math.min(next.from, to)) remove(from++);
    return next;
  };
}
