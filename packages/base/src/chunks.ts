/** The items in order, in slices of `size`; the last one may be shorter. */
export function* chunks<T>(items: readonly T[], size: number): Generator<T[], void, undefined> {
  for (let at = 0; at < items.length; at += size) yield items.slice(at, at + size);
}
