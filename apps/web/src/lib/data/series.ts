/** The series of an organization: what each component of each part has stored recently, with its newest value. */
import { flatten } from '../query/flatten.ts';
import type { Row } from '../query/pipeline.ts';
import type { DataPath } from './data-path.ts';

export interface Series extends DataPath {
  readonly part: string;
  /** Such as core:component:sensor. */
  readonly type: string;
  readonly readings: number;
  readonly newest: Date | undefined;
  /** Fields of the newest reading with dotted names. */
  readonly values: Row;
}

const mostSeries = 500;
const mostPoints = 60;
const id: Row = {
  ...{ location: '$location_id', machine: '$robot_id', part: '$part_id', type: '$component_type' },
  ...{ component: '$component_name', method: '$method_name' },
};

/** Lists the series with their newest readings. */
export const seriesPipeline: readonly Row[] = [
  { $sort: { time_received: 1 } },
  {
    $group: {
      _id: id,
      readings: { $sum: 1 },
      newest: { $last: '$time_received' },
      data: { $last: '$data' },
    },
  },
  { $sort: { '_id.component': 1, '_id.method': 1 } },
  { $limit: mostSeries },
];

/** The last readings of each series, oldest first. */
export const pastPipeline: readonly Row[] = [
  { $sort: { time_received: 1 } },
  {
    $group: {
      _id: id,
      data: { $lastN: { n: mostPoints, input: '$data' } },
      times: { $lastN: { n: mostPoints, input: '$time_received' } },
    },
  },
  { $limit: mostSeries },
];

/** The first capture day of each series. */
export const oldestPipeline: readonly Row[] = [
  { $group: { _id: id, day: { $min: '$capture_day' } } },
  { $limit: mostSeries },
];

/** Identifies a series. */
export function keyOf({ part, component, method }: Pick<Series, 'part' | 'component' | 'method'>): string {
  return `${part}/${component}/${method}`;
}

export function seriesOf(row: Row): Series {
  const readings = Number(row['readings'] ?? 0);
  const newest = typeof row['newest'] === 'string' ? new Date(row['newest']) : undefined;
  return { ...idOf(row), readings, newest, values: valuesOf(row['data']) };
}

/** Numbers of a series over time. */
export interface Past {
  /** Seconds since 1970. */
  readonly x: readonly number[];
  /** By field with its dotted name; null where a reading has no number. */
  readonly fields: ReadonlyMap<string, readonly (number | null)[]>;
}

export function pastOf(row: Row): readonly [key: string, past: Past] {
  const all = (Array.isArray(row['data']) ? row['data'] : []).map(valuesOf);
  const times = Array.isArray(row['times']) ? row['times'] : [];
  const names = new Set(
    all.flatMap((values) => Object.keys(values).filter((name) => typeof values[name] === 'number')),
  );
  const numbers = (name: string): (number | null)[] =>
    all.map((values) => (typeof values[name] === 'number' ? values[name] : null));
  const fields = new Map([...names].map((name) => [name, numbers(name)] as const));
  return [keyOf(idOf(row)), { x: times.map((time) => Date.parse(String(time)) / 1_000), fields }];
}

export function oldestOf(row: Row): readonly [key: string, day: string] {
  return [keyOf(idOf(row)), String(row['day'] ?? '').slice(0, 10)];
}

function idOf(row: Row): Pick<Series, 'location' | 'machine' | 'part' | 'type' | 'component' | 'method'> {
  const found = (row['_id'] ?? {}) as Record<string, unknown>;
  const text = (name: string): string => String(found[name] ?? '');
  return {
    ...{ location: text('location'), machine: text('machine'), part: text('part') },
    ...{ type: text('type'), component: text('component'), method: text('method') },
  };
}

function valuesOf(data: unknown): Row {
  const readings = typeof data === 'object' && data !== null ? ((data as Row)['readings'] ?? data) : {};
  return flatten(readings as Row);
}
