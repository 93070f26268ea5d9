import type { QueryLanguage } from './run-query.ts';

/** The address of the query page with a query. @param base of the organization, such as `/o/1` */
export function queryLink(
  base: string,
  query: { readonly language: QueryLanguage; readonly text: string; readonly rangeMs: number },
): string {
  const { language, text, rangeMs } = query;
  return `${base}/query?${new URLSearchParams({ language, range: String(rangeMs), query: text })}`;
}
