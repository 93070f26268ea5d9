/** Reads a list that the cloud returns page by page. */

export interface Page<T> {
  readonly items: readonly T[];
  /** Empty on the last page. */
  readonly nextPageToken: string;
}

/** @param most the maximum number of items. @param read one page of at most `limit` items; an empty token: the first page */
export async function readPages<T>(
  most: number,
  pageSize: number,
  read: (limit: number, pageToken: string) => Promise<Page<T>>,
): Promise<T[]> {
  const found: T[] = [];
  let pageToken = '';
  do {
    const page = await read(Math.min(most - found.length, pageSize), pageToken);
    found.push(...page.items);
    pageToken = page.nextPageToken;
  } while (pageToken !== '' && found.length < most);
  return found;
}
