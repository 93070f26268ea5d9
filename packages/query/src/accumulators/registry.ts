/** All accumulators. */

import { collectAccumulators } from './collect.ts';
import type { AccumulatorDefinition, Accumulators } from './definition.ts';
import { numberAccumulators } from './number.ts';
import { percentileAccumulators } from './percentile.ts';
import { pickAccumulators } from './pick.ts';
import { pickNAccumulators } from './pick-n.ts';
import { setAccumulators } from './set.ts';
import { topAccumulators } from './top.ts';

const definitions: Accumulators = {
  ...numberAccumulators,
  ...pickAccumulators,
  ...collectAccumulators,
  ...setAccumulators,
  ...pickNAccumulators,
  ...topAccumulators,
  ...percentileAccumulators,
};

/** By their names in plans. */
export const accumulators: ReadonlyMap<string, AccumulatorDefinition> = new Map(Object.entries(definitions));

export function accumulatorOf(fn: string): AccumulatorDefinition {
  const definition = accumulators.get(fn);
  if (definition === undefined) throw new Error(`expected the name of an accumulator, found ${fn}`);
  return definition;
}
