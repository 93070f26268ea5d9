/** Finds a percentile among sorted numbers. */

/** @param sorted ascending. */
export function percentileOf(sorted: ArrayLike<number>, p: number): number | null {
  const count = sorted.length;
  return count === 0 ? null : sorted[rankOf(count, p)]!;
}

/** The position, from 0, of the percentile among this many sorted numbers. */
export function rankOf(count: number, p: number): number {
  return p >= 1 ? count - 1 : Math.max(0, Math.ceil(count * p) - 1);
}
