/** All accumulators. */

import { collecting } from './collect.ts';
import type { AccumulatorDefinition, Accumulators } from './definition.ts';
import { counting } from './number.ts';
import { percentiles } from './percentile.ts';
import { picking } from './pick.ts';
import { pickingN } from './pick-n.ts';
import { sets } from './set.ts';
import { tops } from './top.ts';

const definitions: Accumulators = {
  ...counting,
  ...picking,
  ...collecting,
  ...sets,
  ...pickingN,
  ...tops,
  ...percentiles,
};

/** By their names in plans. */
export const accumulators: ReadonlyMap<string, AccumulatorDefinition> = new Map(Object.entries(definitions));

export function accumulatorOf(fn: string): AccumulatorDefinition {
  const definition = accumulators.get(fn);
  if (definition === undefined) throw new Error(`expected the name of an accumulator, found ${fn}`);
  return definition;
}
