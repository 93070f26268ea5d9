/** The newest stored readings of a part, each series with its previous numbers. */
import type { NewestReading, NewestReadings } from '@platform/proto/platform/live/v1/live';
import { flatten } from '../query/flatten.ts';
import type { Row } from '../query/pipeline.ts';
import { dateOf } from '../ui/time.ts';

export interface NewestSeries {
  readonly key: string;
  readonly component: string;
  readonly method: string;
  readonly at: Date | undefined;
  /** With dotted names; empty for pictures and files. */
  readonly values: Row;
  /** Size of a picture or file; 0: none. */
  readonly bytes: number;
  /** The last numbers of each value, oldest first. */
  readonly past: Readonly<Record<string, readonly number[]>>;
}

const mostPoints = 60;

/** Sorted by component and method. */
export function newestAfter(
  { readings }: Pick<NewestReadings, 'readings'>,
  before: readonly NewestSeries[] = [],
): readonly NewestSeries[] {
  const series = new Map(before.map((one) => [one.key, one]));
  for (const reading of readings) {
    const key = `${reading.componentName}/${reading.methodName}`;
    series.set(key, seriesAfter(key, reading, series.get(key)));
  }
  return [...series.values()].toSorted((a, b) => a.key.localeCompare(b.key));
}

function seriesAfter(key: string, reading: NewestReading, before: NewestSeries | undefined): NewestSeries {
  const document = reading.values ?? {};
  const inner = document['readings'];
  const values = flatten(typeof inner === 'object' && inner !== null && !Array.isArray(inner) ? inner : document);
  const numbers = Object.entries(values).filter((entry): entry is [string, number] => typeof entry[1] === 'number');
  return {
    ...{ key, values, component: reading.componentName, method: reading.methodName },
    ...{ at: dateOf(reading.receivedAt), bytes: Number(reading.bytes) },
    past: Object.fromEntries(
      numbers.map(([name, value]) => [name, [...(before?.past[name] ?? []), value].slice(-mostPoints)]),
    ),
  };
}
