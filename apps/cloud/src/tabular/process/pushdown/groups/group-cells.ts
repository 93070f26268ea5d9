/** The columns of a statement that groups, and how partial states are read out of them. */
import type { BsonValue, Expr, Maybe } from '@platform/query';
import type { Chunk } from '../rows/chunk.ts';
import type { Summed, SumPlan } from './exact-sum.ts';

/** Where in the answer columns stand; the same SQL is asked for once. */
export interface Cells {
  readonly sql: string[];
  readonly sums: { readonly column: string; readonly of: Summed }[];
  /** Some state is made of a value that differs from series to series. */
  ofSeries: boolean;
  /** How many conditions decide what is added up. */
  decisions: number;
  /** Those of the columns that hold lists of values. */
  readonly lists: number[];
}

export function cellOf(cells: Cells, sql: string): number {
  const known = cells.sql.indexOf(sql);
  return known >= 0 ? known : cells.sql.push(sql) - 1;
}

/** Makes the states of a chunk's rows. */
export type ReadStates = (chunk: Chunk, sums: readonly SumPlan[], constantOf: ConstantOf) => (row: number) => BsonValue;

/** By row of a chunk: the value of an expression that is the same for all rows of a series. */
export type ConstantOf = (expr: Expr) => (row: number) => Maybe;

export interface StateColumns {
  readonly read: ReadStates;
  /** What it takes that is the same for all rows of a series. */
  readonly constants: readonly Expr[];
  /** Present if it is the set of the values of the one constant, in all rows that are grouped. */
  readonly isSet?: boolean;
}
