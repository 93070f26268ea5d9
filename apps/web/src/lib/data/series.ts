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
const mostSampled = 400;
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

/** A reading of each part of a time, which it has in the order of time: the last one of each. */
export function sampledPipeline(fromMs: number, untilMs: number): readonly Row[] {
  const from = { $date: new Date(fromMs).toISOString() };
  const part = { $floor: { $divide: [{ $subtract: ['$time_received', from] }, partMs(fromMs, untilMs)] } };
  return [
    { $sort: { time_received: 1 } },
    {
      $group: {
        _id: { ...id, part_of_time: part },
        ...{ data: { $last: '$data' }, time: { $last: '$time_received' }, readings: { $sum: 1 } },
      },
    },
    { $sort: { time: 1 } },
  ];
}

/** Length of the parts of a time of which one reading each is shown, in whole seconds. */
export function partMs(fromMs: number, untilMs: number): number {
  return Math.max(1, Math.ceil((untilMs - fromMs) / mostSampled / 1_000)) * 1_000;
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
  /** There are more readings than points: each point is the last reading of a part of the time. */
  readonly isSampled: boolean;
}

export interface PastField extends Pick<Value, 'name' | 'path'> {
  /** Null where a reading has no number. */
  readonly numbers: readonly (number | null)[];
}

/** @param row of `pastPipeline` */
export function pastOf(row: Row): readonly [key: string, past: Past] {
  const all = Array.isArray(row['data']) ? row['data'] : [];
  const times = Array.isArray(row['times']) ? row['times'] : [];
  return [keyOf(idOf(row)), numbersOf(all, times, false)];
}

/** @param rows of `sampledPipeline` */
export function sampledOf(rows: readonly Row[]): ReadonlyMap<string, Past> {
  return new Map(
    [...Map.groupBy(rows, (row) => keyOf(idOf(row)))].map(([key, of]): [string, Past] => [
      key,
      numbersOf(
        of.map(({ data }) => data),
        of.map(({ time }) => time),
        of.some(({ readings }) => Number(readings) > 1),
      ),
    ]),
  );
}

/** @param all what each reading has, as it is stored */
function numbersOf(all: readonly unknown[], times: readonly unknown[], isSampled: boolean): Past {
  const fields = new Map<string, { readonly value: Value; readonly numbers: (number | null)[] }>();
  for (const [at, values] of all.map(valuesOf).entries())
    for (const value of values) {
      if (typeof value.value !== 'number') continue;
      const key = pathKey(value.path);
      const field = fields.get(key) ?? { value, numbers: Array<number | null>(all.length).fill(null) };
      fields.set(key, field);
      field.numbers[at] = value.value;
    }
  return {
    x: times.map((time) => Date.parse(String(time)) / 1_000),
    fields: [...fields.values()].map(({ value: { name, path }, numbers }) => ({ name, path, numbers })),
    isSampled,
  };
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
