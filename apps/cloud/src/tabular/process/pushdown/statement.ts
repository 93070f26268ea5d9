/** One statement over similar files: its SQL, and how batches are built from its result. */
import type { Batch } from '@platform/query';
import type { Bind } from './conditions/sql.ts';
import { type Summed, type SumPlan, sumPlan, sumsSql } from './groups/exact-sum.ts';
import type { OpenFile } from './open-files.ts';
import type { Chunk } from './rows/chunk.ts';

/** How one file's rows are processed. Files whose emissions differ only in the facts of sums share a statement. */
export interface Emission {
  /** How the result is made; shown by explain and used to distinguish emissions. */
  readonly kind: 'group' | 'top' | 'columns' | 'rows';
  /** Anything else that must be equal in files that share a statement. */
  readonly variant: string;
  /** `$1` is the list of the files' paths; `{sum i part}` stands for a part of sum i. */
  readonly sql: string;
  /** Values from `$2` on. */
  readonly binds: readonly Bind[];
  readonly sums: readonly { readonly column: string; readonly of: Summed }[];
  /**
   * Upper bound of the bytes if all rows are gathered before the first is read. If few rows are selected from many, streaming returns them
   * in small chunks, each as expensive as two thousand rows. Absent: rows are streamed.
   */
  readonly gathered?: number;
  /** Columns of the result, if its rows are streamed. Default: they are gathered. */
  readonly columns?: number;
  /** The column that holds whole documents; a few thousand of these can be too many for one batch. */
  readonly documents?: number;
  /** Whether the batches have passed through `pre`. */
  readonly done: boolean;
  /**
   * Whether the query's use of a series depends only on its number in these files; absent: it depends on the file, or series are not used.
   */
  readonly isOfNumber?: (files: readonly OpenFile[]) => boolean;
  readonly decode: (files: readonly OpenFile[], sums: readonly SumPlan[]) => (chunk: Chunk) => Batch;
}

export interface Statement {
  readonly sql: string;
  readonly files: readonly OpenFile[];
  readonly emission: Emission;
  readonly sums: readonly SumPlan[];
}

export function emissionKey({
  kind,
  variant,
  sql,
  binds,
  sums,
}: Pick<Emission, 'kind' | 'variant' | 'sql' | 'binds' | 'sums'>): string {
  const values = binds.map(({ type, value }) => `${type}:${value}`);
  return JSON.stringify([kind, variant, sql, values, sums.map(({ column }) => column)]);
}

/** Undefined when the sums of all these files together would not be exact. */
export function statementOf(files: readonly { file: OpenFile; emission: Emission }[]): Statement | undefined {
  const [first] = files;
  if (first === undefined) return undefined;
  let { sql } = first.emission;
  const sums: SumPlan[] = [];
  for (const [index, { column }] of first.emission.sums.entries()) {
    const plan = sumPlan(files.map(({ emission }) => (emission.sums[index] as Emission['sums'][number]).of));
    if (plan === undefined) return undefined;
    sums.push(plan);
    const parts = sumsSql(column, plan);
    for (let part = 0; part < maxParts; part++)
      sql = sql.replaceAll(sumMarker(index, part), parts[part] ?? 'CAST(0 AS DOUBLE)');
  }
  const opened = files.map(({ file }) => file);
  // Grouping by one column less saves a quarter of the work.
  const isOne = opened.length === 1 || first.emission.isOfNumber?.(opened) === true;
  sql = sql.replace(fileMarker, isOne ? 'CAST(0 AS INTEGER)' : 'CAST(file_index AS INTEGER)');
  sql = sql.replace(fileKeyMarker, isOne ? '' : '1, ');
  return { sql, files: opened, emission: first.emission, sums };
}

export const maxParts = 3;

/** The index of the row's file in the list. */
export const fileMarker = '{file}';
/** The same as a key of GROUP BY. */
export const fileKeyMarker = '{file key}';

export function sumMarker(index: number, part: number): string {
  return `{sum ${index} ${part}}`;
}
