/** Runs a query in SQL or MQL. */
import { runQueryRequest } from '../api/query-request.ts';
import { type Row, rangeStage, stagesOf } from './pipeline.ts';

export type QueryLanguage = 'mql' | 'sql';

export interface QueryAnswer {
  readonly rows: readonly Row[];
  readonly scannedBytes: number;
  readonly elapsedMs: number;
  /** What the cloud says about the answer, such as a limit. */
  readonly notices: string;
}

export function runQuery(given: {
  readonly organizationId: string;
  readonly language: QueryLanguage;
  readonly text: string;
  readonly rangeMs: number;
  readonly nowMs: number;
  readonly signal: AbortSignal;
}): Promise<QueryAnswer> {
  const { organizationId, language, text, rangeMs, nowMs, signal } = given;
  const first = rangeStage(rangeMs, nowMs);
  const query = language === 'sql' ? { sql: text } : { mql: [...(first ? [first] : []), ...stagesOf(text)] };
  return runQueryRequest({ organization_id: organizationId, format: 'json', ...query }, signal);
}
