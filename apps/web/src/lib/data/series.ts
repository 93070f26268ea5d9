/** The series of an organization: what each component of each part has stored, with its newest values. */
import type { Series as ListedSeries } from '@platform/proto/platform/series/v1/series';
import type { Row } from '../query/pipeline.ts';
import { dateOf } from '../ui/time.ts';
import type { DataPath } from './data-path.ts';
import { type Value, valuesOf } from './values.ts';

export interface Series extends DataPath {
  readonly part: string;
  /** Such as core:component:sensor. */
  readonly type: string;
  readonly readings: number;
  readonly newest: Date | undefined;
  /** Of the newest reading; undefined: it is too large to be listed, or no reading is left. */
  readonly values: readonly Value[] | undefined;
}

const mostPoints = 60;
const id: Row = {
  ...{ location: '$location_id', machine: '$robot_id', part: '$part_id', type: '$component_type' },
  ...{ component: '$component_name', method: '$method_name' },
};

/** Selects the readings of some series; may select those of others of the same parts, too. */
export function seriesStage(series: readonly Series[]): Row {
  const among = (values: readonly string[]): Row => ({ $in: [...new Set(values)] });
  return {
    $match: {
      part_id: among(series.map(({ part }) => part)),
      component_name: among(series.map(({ component }) => component)),
      method_name: among(series.map(({ method }) => method)),
    },
  };
}

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
];

/** The first capture day of each series. */
export const oldestPipeline: readonly Row[] = [{ $group: { _id: id, day: { $min: '$capture_day' } } }];

type SeriesId = Pick<Series, 'location' | 'machine' | 'part' | 'type' | 'component' | 'method'>;

/** Identifies a series. */
export function keyOf({ location, part, type, component, method }: Omit<SeriesId, 'machine'>): string {
  return JSON.stringify([location, part, type, component, method]);
}

export function seriesOf(listed: ListedSeries): Series {
  return {
    ...{ location: listed.locationId, machine: listed.machineId, part: listed.partId },
    ...{ type: listed.componentType, component: listed.componentName, method: listed.methodName },
    ...{ readings: Number(listed.readings), newest: dateOf(listed.newest) },
    values: listed.data && valuesOf(listed.data),
  };
}

/** Numbers of a series over time. */
export interface Past {
  /** Seconds since 1970. */
  readonly x: readonly number[];
  readonly fields: readonly PastField[];
}

export interface PastField extends Pick<Value, 'name' | 'path'> {
  /** Null where a reading has no number. */
  readonly numbers: readonly (number | null)[];
}

export function pastOf(row: Row): readonly [key: string, past: Past] {
  const all = (Array.isArray(row['data']) ? row['data'] : []).map(valuesOf);
  const times = Array.isArray(row['times']) ? row['times'] : [];
  const fields = new Map<string, { readonly value: Value; readonly numbers: (number | null)[] }>();
  for (const [at, values] of all.entries())
    for (const value of values) {
      if (typeof value.value !== 'number') continue;
      const key = pathKey(value.path);
      const field = fields.get(key) ?? { value, numbers: Array<number | null>(all.length).fill(null) };
      fields.set(key, field);
      field.numbers[at] = value.value;
    }
  return [
    keyOf(idOf(row)),
    {
      x: times.map((time) => Date.parse(String(time)) / 1_000),
      fields: [...fields.values()].map(({ value: { name, path }, numbers }) => ({ name, path, numbers })),
    },
  ];
}

/** Identifies a value of a series. */
export function pathKey(path: readonly string[]): string {
  return JSON.stringify(path);
}

export function oldestOf(row: Row): readonly [key: string, day: string] {
  return [keyOf(idOf(row)), String(row['day'] ?? '').slice(0, 10)];
}

function idOf(row: Row): SeriesId {
  const found = (row['_id'] ?? {}) as Record<string, unknown>;
  const text = (name: string): string => String(found[name] ?? '');
  return {
    ...{ location: text('location'), machine: text('machine'), part: text('part') },
    ...{ type: text('type'), component: text('component'), method: text('method') },
  };
}
