/** One statement over files that are alike: the SQL, and how batches are made of what it gives. */
import type { Batch } from '@platform/query';
import type { Bind } from './conditions/sql.ts';
import { type Summed, type SumPlan, sumPlan, sumsSql } from './groups/exact-sum.ts';
import type { OpenFile } from './open-files.ts';
import type { Chunk } from './rows/chunk.ts';

/** What one file's rows go through. Files for which it is the same except for the facts of sums share a statement. */
export interface Emission {
  /** How the answer is made, for explain and for telling emissions apart. */
  readonly kind: 'group' | 'top' | 'columns' | 'rows';
  /** What else has to be equal in files that share a statement. */
  readonly variant: string;
  /** `$1` is the list of the files' paths; `{sum i part}` stands for a part of sum i. */
  readonly sql: string;
  /** From `$2` on. */
  readonly binds: readonly Bind[];
  readonly sums: readonly { readonly column: string; readonly of: Summed }[];
  /**
   * All rows are gathered before the first is looked at, which takes so many bytes at most: few rows of many come in crumbs, each of which
   * costs as much as two thousand rows. Absent: rows are looked at as they come.
   */
  readonly gathered?: number;
  /** Columns of the answer, if its rows are looked at as they come. Default: they are gathered. */
  readonly columns?: number;
  /** Which of them holds whole documents, of which a few thousand can be too many for one batch. */
  readonly documents?: number;
  /** The batches went through `pre`. */
  readonly done: boolean;
  /** Whether what is asked of a series does not depend on the file, so that its number says all; absent: it does, or nothing is asked. */
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
  // Grouping by one number less is a quarter of the work.
  const isOne = opened.length === 1 || first.emission.isOfNumber?.(opened) === true;
  sql = sql.replace(fileMarker, isOne ? 'CAST(0 AS INTEGER)' : 'CAST(file_index AS INTEGER)');
  sql = sql.replace(fileKeyMarker, isOne ? '' : '1, ');
  return { sql, files: opened, emission: first.emission, sums };
}

export const maxParts = 3;

/** The place of the row's file in the list. */
export const fileMarker = '{file}';
/** … as a key of GROUP BY. */
export const fileKeyMarker = '{file key}';

export function sumMarker(index: number, part: number): string {
  return `{sum ${index} ${part}}`;
}
