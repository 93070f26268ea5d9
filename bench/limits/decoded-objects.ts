/** The alternative: mingo over decoded objects. It keeps them in memory, so it gets fewer objects, and its time is scaled. */
import { aggregate } from 'mingo';
import { componentCount, intervalMs, readingAt } from '../src/queries/readings.ts';

const most = 200_000;

export interface DecodedObjects {
  /** Time of a pipeline over all rows, assuming the same time per row. */
  ms(stages: readonly Record<string, unknown>[]): number;
}

export function openDecodedObjects(readings: number): DecodedObjects {
  const everyMs = intervalMs(readings);
  const each = Math.ceil(Math.min(readings, most) / componentCount);
  const objects = Array.from({ length: componentCount }, (_, component) =>
    Array.from({ length: each }, (__, n) => {
      const { component: name, receivedMs, ...fields } = readingAt(component, n, everyMs);
      return { component_name: name, time_received: new Date(receivedMs), data: { readings: fields } };
    }),
  ).flat();
  return {
    ms(stages) {
      const started = performance.now();
      aggregate(objects, [...stages]);
      return ((performance.now() - started) * readings) / objects.length;
    },
  };
}
