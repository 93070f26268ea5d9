/** The tags of a file as text in its row. */

export function tagsText(tags: readonly string[]): string {
  return JSON.stringify(tags.toSorted());
}

/** Sorted. */
export function tagsOf({ tags }: { readonly tags: string }): string[] {
  const found: string[] = tags === '[]' ? [] : JSON.parse(tags);
  return found.toSorted();
}
