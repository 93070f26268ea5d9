/** The series of an organization: what each component of each part has stored lately, with its newest value. */
import { flatten } from '../query/flatten.ts';
import type { Row } from '../query/pipeline.ts';

export interface Series {
  readonly machineId: string;
  readonly component: string;
  readonly method: string;
  readonly readings: number;
  readonly newest: Date | undefined;
  /** Fields of the newest reading with dotted names. */
  readonly values: Row;
}

const mostSeries = 500;

/** The pipeline behind the page; it is also what "Query" opens. */
export const seriesPipeline: readonly Row[] = [
  { $sort: { time_received: 1 } },
  {
    $group: {
      _id: { machine: '$robot_id', component: '$component_name', method: '$method_name' },
      readings: { $sum: 1 },
      newest: { $last: '$time_received' },
      data: { $last: '$data' },
    },
  },
  { $sort: { '_id.component': 1, '_id.method': 1 } },
  { $limit: mostSeries },
];

export function seriesOf(row: Row): Series {
  const id = (row['_id'] ?? {}) as Record<string, unknown>;
  const text = (name: string): string => String(id[name] ?? '');
  const data = row['data'];
  const readings = typeof data === 'object' && data !== null ? ((data as Row)['readings'] ?? data) : {};
  return {
    machineId: text('machine'),
    component: text('component'),
    method: text('method'),
    readings: Number(row['readings'] ?? 0),
    newest: typeof row['newest'] === 'string' ? new Date(row['newest']) : undefined,
    values: flatten(readings as Row),
  };
}
