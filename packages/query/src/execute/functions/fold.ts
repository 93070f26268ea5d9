/**
 * Accumulators as expressions. $sum, $avg, $min, $max, $stdDevPop, $stdDevSamp: over their arguments, or over the elements of the
 * only one. $firstN, $lastN, $minN, $maxN: `n`, array. $median, $percentile: array or value, and the probabilities.
 */

import { typeName } from '../../bson/type.ts';
import { BsonDocument, type BsonValue, type Maybe } from '../../bson/value.ts';
import type { AccumulatorName } from '../../plan/stage.ts';
import { QueryError } from '../../query-error.ts';
import { countOf } from '../accumulators/count-of.ts';
import { percentileFolds } from '../accumulators/percentile.ts';
import { accumulators } from '../accumulators.ts';
import type { Eager } from './registry.ts';

export const fold: Readonly<Record<string, Eager>> = {
  ...Object.fromEntries(
    (['sum', 'avg', 'min', 'max', 'stdDevPop', 'stdDevSamp'] as const).map((name) => [`agg.${name}`, overAll(name)]),
  ),
  ...Object.fromEntries((['firstN', 'lastN', 'minN', 'maxN'] as const).map((name) => [`agg.${name}`, someOf(name)])),
  'agg.median': (input) => quantiles('median', input, [0.5]),
  'agg.percentile': (input, ...p) =>
    quantiles(
      'percentile',
      input,
      p.filter((each) => typeof each === 'number'),
    ),
};

/** Expressions keep nothing from row to row: what they build is counted as it is built. */
function holdNothing(): void {}

const noRow = new BsonDocument();

function overAll(name: AccumulatorName): Eager {
  return (...values) => {
    const [only] = values;
    const folded = accumulators[name](holdNothing, { fn: name, arg: { k: 'lit', value: null } }, 1);
    for (const value of values.length === 1 && Array.isArray(only) ? only : values) folded.add(value, noRow);
    return folded.result();
  };
}

function someOf(name: AccumulatorName): Eager {
  return (n, input) => {
    const folded = accumulators[name](
      holdNothing,
      { fn: name, arg: { k: 'lit', value: null } },
      countOf(n, `$${name}`),
    );
    if (!Array.isArray(input))
      throw new QueryError(5788200, `the input of $${name} must be an array, found ${typeName(input)}`);
    for (const value of input) folded.add(value, noRow);
    return folded.result();
  };
}

function quantiles(fn: 'median' | 'percentile', input: Maybe, p: readonly number[]): BsonValue {
  const folded = percentileFolds[fn](holdNothing, { fn, arg: { k: 'lit', value: null }, p }, 1);
  for (const value of Array.isArray(input) ? input : [input]) folded.add(value, noRow);
  return folded.result();
}
