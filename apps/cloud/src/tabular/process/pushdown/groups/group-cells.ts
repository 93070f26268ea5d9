/** The columns of a grouping statement, and how partial states are read from them. */
import type { Accumulator, BsonValue, Expr, Maybe } from '@platform/query';
import type { Chunk } from '../rows/chunk.ts';
import type { Summed, SumPlan } from './exact-sum.ts';

/** The result columns and their positions; equal SQL is selected only once. */
export interface Cells {
  readonly sql: string[];
  readonly sums: { readonly column: string; readonly of: Summed }[];
  /** Some state uses a value that differs between series. */
  ofSeries: boolean;
  /** Number of conditions that decide which values are summed. */
  decisions: number;
  /** Columns that hold lists of values. */
  readonly lists: number[];
}

/** Its states are all numbers of a group, which the executor partly sorts in place. */
export function isOfNumbers({ fn }: Accumulator): boolean {
  return fn === 'median' || fn === 'percentile';
}

export function cellOf(cells: Cells, sql: string): number {
  const known = cells.sql.indexOf(sql);
  return known >= 0 ? known : cells.sql.push(sql) - 1;
}

/** Creates the states of a chunk's rows. */
export type ReadStates = (chunk: Chunk, sums: readonly SumPlan[], constantOf: ConstantOf) => (row: number) => BsonValue;

/** By row of a chunk: the value of an expression that is constant within a series. */
export type ConstantOf = (expr: Expr) => (row: number) => Maybe;

export interface StateColumns {
  readonly read: ReadStates;
  /** Expressions it needs that are constant within a series. */
  readonly constants: readonly Expr[];
  /** True if it is the set of the single constant's values over all grouped rows. */
  readonly isSet?: boolean;
}
