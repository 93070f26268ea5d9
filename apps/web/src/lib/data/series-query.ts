import { queryLink } from '../query/query-link.ts';
import { type DataPath, pathStage } from './data-path.ts';

/** The query that shows one value of a series over time, as text. @param field with dots */
export function seriesQuery(path: DataPath, field: string): string {
  const taken = pathStage(path);
  const stages = [
    ...(taken === undefined ? [] : [taken]),
    { $sort: { time_received: -1 } },
    { $limit: 2_000 },
    { $project: { _id: 0, time_received: 1, value: `$data.readings.${field}` } },
  ];
  return `[\n${stages.map((stage) => `  ${JSON.stringify(stage)}`).join(',\n')}\n]\n`;
}

/** The address of the query page with this query. */
export function queryAddress(given: {
  readonly base: string;
  readonly path: DataPath;
  readonly field: string;
  readonly rangeMs: number;
}): string {
  const { base, path, field, rangeMs } = given;
  return queryLink(base, { language: 'mql', text: seriesQuery(path, field), rangeMs });
}
