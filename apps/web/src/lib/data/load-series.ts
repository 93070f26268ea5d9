import { runQueryRequest } from '../api/query-request.ts';
import { rangeStage } from '../query/pipeline.ts';
import { type Series, seriesOf, seriesPipeline } from './series.ts';

export async function loadSeries(
  organizationId: string,
  rangeMs: number,
  nowMs: number,
  signal: AbortSignal,
): Promise<readonly Series[]> {
  const first = rangeStage(rangeMs, nowMs);
  const mql = [...(first ? [first] : []), ...seriesPipeline];
  const { rows } = await runQueryRequest({ organization_id: organizationId, format: 'json', mql }, signal);
  return rows.map(seriesOf);
}
