/** The longest increasing subsequence of positions: all other entries have moved. @param positions each occurs once. */
export function longestIncreasing(positions: readonly number[]): ReadonlySet<number> {
  // The last position of the best run of each length, and the predecessor of each position in its run.
  const ends: number[] = [];
  const before = new Map<number, number>();
  for (const position of positions) {
    let low = 0;
    for (let high = ends.length; low < high; ) {
      const middle = (low + high) >> 1;
      if ((ends[middle] as number) < position) low = middle + 1;
      else high = middle;
    }
    const previous = ends[low - 1];
    if (previous !== undefined) before.set(position, previous);
    ends[low] = position;
  }
  const staying = new Set<number>();
  for (let at = ends.at(-1); at !== undefined; at = before.get(at)) staying.add(at);
  return staying;
}
