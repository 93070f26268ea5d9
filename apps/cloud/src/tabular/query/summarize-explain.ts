/** Summarizes how a query was executed. */
import { splitPlan } from '@platform/query';
import type { QueryExplain, QueryRequest, QueryResult, SourceExplain } from '../tabular.ts';
import { explainPostStages } from './explain-post-stages.ts';

/** @param listed number of sealed files of the organization, and of those that the catalog did not rule out */
export function summarizeExplain(
  { plan, pushDown = true }: QueryRequest,
  listed: { readonly all: number; readonly read: number },
  sources: readonly SourceExplain[],
  { scannedBytes, elapsedMs }: Pick<QueryResult, 'scannedBytes' | 'elapsedMs'>,
): QueryExplain {
  const count = (of: (source: SourceExplain) => number): number => sources.reduce((sum, source) => sum + of(source), 0);
  return {
    pushDown,
    filesListed: listed.all,
    filesSkipped: listed.all - listed.read,
    filesRead: count(({ does, files }) => (/^(newest|facts|documents)$/.test(does) ? 0 : files)),
    sources,
    later: explainPostStages(plan, splitPlan(plan)),
    rows: count(({ rows }) => rows),
    scannedBytes,
    elapsedMs,
  };
}
