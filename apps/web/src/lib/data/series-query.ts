import { queryLink } from '../query/query-link.ts';
import type { TimeRange } from '../range/time-range.ts';
import { type DataPath, pathStage } from './data-path.ts';
import { expressionOf } from './values.ts';

/** The query that shows one value of a series over time, as text. @param value its path below `data` */
export function seriesQuery(series: DataPath, value: readonly string[]): string {
  const taken = pathStage(series);
  const stages = [
    ...(taken === undefined ? [] : [taken]),
    { $sort: { time_received: -1 } },
    { $limit: 2_000 },
    { $project: { _id: 0, time_received: 1, value: expressionOf(value) } },
  ];
  return `[\n${stages.map((stage) => `  ${JSON.stringify(stage)}`).join(',\n')}\n]\n`;
}

/** The address of the query page with this query. */
export function queryAddress(given: {
  readonly base: string;
  readonly series: DataPath;
  readonly value: readonly string[];
  readonly range: TimeRange;
}): string {
  const { base, series, value, range } = given;
  return queryLink(base, { language: 'mql', text: seriesQuery(series, value), range });
}
