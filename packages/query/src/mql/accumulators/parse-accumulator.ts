/** One accumulator: `{$name: argument}`. */

import type { BsonValue } from '../../bson/value.ts';
import type { Accumulator } from '../../plan/stage.ts';
import { parseExpression } from '../expression.ts';
import { nAccumulators } from './n-values.ts';
import { percentileAccumulators } from './percentile.ts';
import { simpleAccumulators } from './simple.ts';

/** @param at where the argument stands in the query. */
export type ParseAccumulator = (argument: BsonValue, at: string) => Accumulator;

const parsers: Readonly<Record<string, ParseAccumulator>> = {
  ...simpleAccumulators,
  ...nAccumulators,
  ...Object.fromEntries(
    Object.entries(percentileAccumulators).map(([name, parse]): [string, ParseAccumulator] => [
      name,
      (argument, at) => parse(argument, at, parseExpression),
    ]),
  ),
};

export const accumulatorNames: readonly string[] = Object.keys(parsers);

/** Undefined for a name that is no accumulator. @throws QueryError for a faulty argument. */
export function parseAccumulator(name: string, argument: BsonValue, at: string): Accumulator | undefined {
  return Object.hasOwn(parsers, name) ? parsers[name]!(argument, at) : undefined;
}
