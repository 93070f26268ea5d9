/** The columns by which DuckDB groups for a key. */
import type { TimeColumn } from '@platform/query';
import type { FileFacts } from '../../files/file-facts.ts';
import { timeFacts } from '../conditions/operand.ts';
import type { Sql } from '../conditions/sql.ts';
import type { KeyInputs } from './group-key.ts';

/** For rows of several files. */
export function keyColumns({ ofSeries, leaves, times, truths }: KeyInputs, facts: FileFacts): readonly Sql[] {
  return [
    ...(ofSeries ? ['file_index', 'series'] : []),
    ...leaves.flatMap(({ leaf: { columns } }) =>
      [columns.number, columns.text, columns.bool, columns.kind].filter((name) => name !== undefined),
    ),
    ...times.map(({ column, stepMs }) => timeStep(column, stepMs, facts)),
    ...truths.map(truthColumn),
  ];
}

export function truthColumn(truth: Sql): Sql {
  return `(${truth}) IS TRUE`;
}

/** The index of a time's step, counted from 1970. */
export function timeStep(column: TimeColumn, stepMs: number, { series }: FileFacts): Sql {
  const step = stepMs * 1_000;
  const name = timeFacts[column];
  if (series.every((one) => (one[name].min ?? 0n) >= 0n)) return `${column} // ${step}`;
  return `(${column} - ((${column} % ${step}) + ${step}) % ${step}) // ${step}`;
}
