/** Runs `work` for 0 … count-1, `lanes` at a time; results in order. */
export async function inLanes<T>(lanes: number, count: number, work: (index: number) => Promise<T>): Promise<T[]> {
  const results: T[] = new Array(count);
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < count) {
      const index = next++;
      results[index] = await work(index);
    }
  };
  await Promise.all(Array.from({ length: Math.min(lanes, count) }, lane));
  return results;
}
