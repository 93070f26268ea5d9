/** Queries over sealed readings, compared with DuckDB over typed columns, and with mingo. */
import { aggregate } from 'mingo';
import type { OpenTabular } from '../../../apps/cloud/src/tabular/testing/open-tabular.ts';
import { openTypedColumns } from '../../limits/typed-columns.ts';
import { type Line, timesInTurns } from './line.ts';
import { componentCount, intervalMs, readingAt } from './readings.ts';

type Stages = readonly Record<string, unknown>[];

interface Question {
  readonly name: string;
  readonly stages: Stages;
  /** The same query over typed columns. */
  readonly sql: string;
  readonly requirement: string;
}

/** Fewer than one reading in 100 is warmer. */
export const warm = 28.6;

const questions: readonly Question[] = [
  {
    name: 'match + group + average',
    stages: [
      { $match: { 'data.readings.temperature': { $gt: 20 } } },
      { $group: { _id: '$component_name', average: { $avg: '$data.readings.humidity' } } },
    ],
    sql: 'SELECT component_name, avg(humidity) FROM readings WHERE temperature > 20 GROUP BY component_name',
    requirement: '≤ 2 × the limit (aim 1.5)',
  },
  {
    name: 'filter + project, few rows',
    stages: [
      { $match: { 'data.readings.temperature': { $gt: warm } } },
      { $project: { _id: 0, component_name: 1, time_received: 1, temperature: '$data.readings.temperature' } },
    ],
    sql: `SELECT component_name, time_received, temperature FROM readings WHERE temperature > ${warm}`,
    requirement: '≤ 2 × the limit',
  },
  {
    name: 'latest of each component',
    stages: [{ $sort: { time_received: -1 } }, { $group: { _id: '$component_name', latest: { $first: '$$ROOT' } } }],
    sql: 'SELECT component_name, max_by(readings, time_received) FROM readings GROUP BY component_name',
    requirement: '≤ 50 ms',
  },
];

export async function overColumns(
  store: OpenTabular,
  {
    folder,
    readings,
    repetitions,
  }: { readonly folder: string; readonly readings: number; readonly repetitions: number },
): Promise<Line[]> {
  using columns = await openTypedColumns(folder, readings);
  const lines: Line[] = [];
  for (const { name, stages, sql, requirement } of questions) {
    const rows = (await store.mql(stages)).length;
    const limitRows = await columns.run(sql);
    if (rows !== limitRows) throw new Error(`${name}: ${rows} rows, the limit has ${limitRows}`);
    // These take some hundredths of a second each, so they run more often than queries that take seconds.
    const [ms = 0, limitMs = 0] = await timesInTurns(3 * repetitions, [
      () => store.ask(stages),
      () => columns.run(sql),
    ]);
    lines.push({ name, rows, ms, limitMs, requirement });
  }
  const objects = openDecodedObjects(readings);
  return lines.map((line, at) => ({ ...line, alternativeMs: objects.ms(questions[at]!.stages) }));
}

const most = 200_000;

interface DecodedObjects {
  /** Time of a pipeline over all rows, assuming the same time per row. */
  ms(stages: readonly Record<string, unknown>[]): number;
}

/** The alternative: mingo over decoded objects. It keeps them in memory, so it gets fewer objects, and its time is scaled. */
function openDecodedObjects(readings: number): DecodedObjects {
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
