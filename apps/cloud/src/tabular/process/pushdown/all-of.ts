/** What `of` returns for each item; undefined once it returns undefined for one. */
export function allOf<Item, Result>(
  items: readonly Item[],
  of: (item: Item) => Result | undefined,
): Result[] | undefined {
  const results: Result[] = [];
  for (const item of items) {
    const result = of(item);
    if (result === undefined) return undefined;
    results.push(result);
  }
  return results;
}
