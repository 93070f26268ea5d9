import { rangeText, type TimeRange } from '../range/time-range.ts';
import type { QueryLanguage } from './run-query.ts';

/** The address of the query page with a query. @param base of the organization, such as `/o/1` */
export function queryLink(
  base: string,
  query: { readonly language: QueryLanguage; readonly text: string; readonly range: TimeRange },
): string {
  const { language, text, range } = query;
  return `${base}/query?${new URLSearchParams({ language, range: rangeText(range), query: text })}`;
}
