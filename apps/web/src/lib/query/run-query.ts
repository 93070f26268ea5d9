/** Runs a query in SQL or MQL. */
import { type QueryAnswer, runQueryRequest } from '../api/query-request.ts';
import { boundsOf, type TimeRange } from '../range/time-range.ts';
import { stagesOf } from './pipeline.ts';

export type QueryLanguage = 'mql' | 'sql';

/** @throws Error with the fault in the text, or the cloud's message */
export async function runQuery(given: {
  readonly organizationId: string;
  readonly language: QueryLanguage;
  readonly text: string;
  readonly range: TimeRange;
  readonly nowMs: number;
  readonly signal: AbortSignal;
  /** Returns how the query runs, as the only row. */
  readonly explain?: boolean;
  /** MQL: only this many stages, and then the number of documents as `documents`. */
  readonly countAfter?: number;
}): Promise<QueryAnswer> {
  const { organizationId, language, text, range, nowMs, signal, explain = false, countAfter } = given;
  const query = language === 'sql' ? { sql: text } : { mql: counted(stagesOf(text), countAfter) };
  return runQueryRequest(
    { organization_id: organizationId, format: 'json', ...query, ...boundsOf(range, nowMs) },
    signal,
    explain ? { 'platform-explain': 'true' } : {},
  );
}

function counted(stages: readonly unknown[], after: number | undefined): readonly unknown[] {
  return after === undefined ? stages : [...stages.slice(0, after), { $count: 'documents' }];
}
