/** One statement over files that are alike: the SQL, and how batches are made of what it gives. */
import type { Batch } from '@platform/query';
import type { Chunk } from './chunk.ts';
import { partSums, type Summed, splitOf } from './exact-sum.ts';
import type { OpenFile } from './open-files.ts';
import type { Bind } from './sql.ts';

/** What one file's rows go through. Files for which it is the same but for the facts of sums share a statement. */
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
  /** The batches went through `pre`. */
  readonly done: boolean;
  readonly decode: (files: readonly OpenFile[]) => (chunk: Chunk) => Batch;
}

export interface Statement {
  readonly sql: string;
  readonly files: readonly OpenFile[];
  readonly emission: Emission;
}

export function emissionKey({ kind, variant, sql, binds, sums }: Emission): string {
  const values = binds.map(({ type, value }) => `${type}:${value}`);
  return JSON.stringify([kind, variant, sql, values, sums.map(({ column }) => column)]);
}

/** Undefined when the sums of all these files together would not be exact. */
export function statementOf(files: readonly { file: OpenFile; emission: Emission }[]): Statement | undefined {
  const [first] = files;
  if (first === undefined) return undefined;
  let { sql } = first.emission;
  for (const [index, { column }] of first.emission.sums.entries()) {
    const split = splitOf(files.map(({ emission }) => (emission.sums[index] as Emission['sums'][number]).of));
    if (split === undefined) return undefined;
    const parts = partSums(column, split);
    for (let part = 0; part < maxParts; part++)
      sql = sql.replaceAll(sumMarker(index, part), parts[part] ?? 'CAST(0 AS DOUBLE)');
  }
  return { sql, files: files.map(({ file }) => file), emission: first.emission };
}

export const maxParts = 3;

export function sumMarker(index: number, part: number): string {
  return `{sum ${index} ${part}}`;
}
