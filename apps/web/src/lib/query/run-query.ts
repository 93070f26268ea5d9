/** Runs a query in SQL or MQL. */
import { runQueryRequest } from '../api/query-request.ts';
import { type Row, sinceOf, stagesOf } from './pipeline.ts';

export type QueryLanguage = 'mql' | 'sql';

export interface QueryAnswer {
  readonly rows: readonly Row[];
  readonly scannedBytes: number;
  readonly elapsedMs: number;
  /** What the cloud says about the answer, such as a limit. */
  readonly notices: string;
}

/** @throws Error with what is wrong with the text, or what the cloud said */
export async function runQuery(given: {
  readonly organizationId: string;
  readonly language: QueryLanguage;
  readonly text: string;
  readonly rangeMs: number;
  readonly nowMs: number;
  readonly signal: AbortSignal;
}): Promise<QueryAnswer> {
  const { organizationId, language, text, rangeMs, nowMs, signal } = given;
  const since = sinceOf(rangeMs, nowMs);
  const query = language === 'sql' ? { sql: text } : { mql: stagesOf(text) };
  return runQueryRequest(
    { organization_id: organizationId, format: 'json', ...query, ...(since && { since }) },
    signal,
  );
}
