/** One accumulator: `{$name: argument}`. */

import type { BsonValue } from '../../bson/value.ts';
import type { Accumulator } from '../../plan/stage.ts';
import { nAccumulators } from './n-values.ts';
import { percentileAccumulators } from './percentile.ts';
import { simpleAccumulators } from './simple.ts';

/** @param at where the argument stands in the query. @param vars bound around it, where it is used as an expression. */
export type ParseAccumulator = (argument: BsonValue, at: string, vars?: readonly string[]) => Accumulator;

const parsers: Readonly<Record<string, ParseAccumulator>> = {
  ...simpleAccumulators,
  ...nAccumulators,
  ...percentileAccumulators,
};

export const accumulatorNames: readonly string[] = Object.keys(parsers);

/** Undefined for a name that is no accumulator. @throws QueryError for a faulty argument. */
export function parseAccumulator(name: string, argument: BsonValue, at: string): Accumulator | undefined {
  return Object.hasOwn(parsers, name) ? parsers[name]!(argument, at) : undefined;
}
