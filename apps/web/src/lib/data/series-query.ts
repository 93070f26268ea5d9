import { queryLink } from '../query/query-link.ts';

/** The query that shows one value of a series over time, as the address of the query page. */
export function queryAddress(given: {
  readonly base: string;
  readonly component: string;
  readonly method: string;
  readonly field: string;
  readonly rangeMs: number;
}): string {
  const { base, component, method, field, rangeMs } = given;
  const stages = [
    { $match: { component_name: component, method_name: method } },
    { $sort: { time_received: -1 } },
    { $limit: 2_000 },
    { $project: { _id: 0, time_received: 1, value: `$data.readings.${field}` } },
  ];
  const text = `[\n${stages.map((stage) => `  ${JSON.stringify(stage)}`).join(',\n')}\n]\n`;
  return queryLink(base, { language: 'mql', text, rangeMs });
}
