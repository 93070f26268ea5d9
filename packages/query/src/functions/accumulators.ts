/**
 * Accumulators as expressions. $sum, $avg, $min, $max, $stdDevPop, $stdDevSamp: over their arguments, or over the elements of the
 * only one. $firstN, $lastN, $minN, $maxN: `n`, array. $median, $percentile: array or value, and the probabilities.
 */

import { countOf } from '../accumulators/count-of.ts';
import type { ParseAccumulator } from '../accumulators/definition.ts';
import { parseMedian, parsePercentile } from '../accumulators/percentile-operand.ts';
import { accumulatorOf } from '../accumulators/registry.ts';
import { typeName } from '../bson/type.ts';
import { BsonDocument, type BsonValue, type Maybe } from '../bson/value.ts';
import { call, literal } from '../plan/expr.ts';
import { QueryError } from '../query-error.ts';
import {
  atLeast,
  type Eager,
  eager,
  type FunctionDefinition,
  type Functions,
  type ParseOperand,
} from './definition.ts';
import { type Fields, fieldsInOrder } from './named-fields.ts';

const someOfFields: Fields = {
  required: ['n', 'input'],
  optional: [],
  notObject: 5787900,
  unknown: 5787901,
  missing: { n: 5787906, input: 5787907 },
};

export const fold: Functions = {
  ...Object.fromEntries(
    ['sum', 'avg', 'min', 'max', 'stdDevPop', 'stdDevSamp'].map((name) => [`agg.${name}`, overAll(name)]),
  ),
  ...Object.fromEntries(['firstN', 'lastN', 'minN', 'maxN'].map((name) => [`agg.${name}`, someOf(name)])),
  'agg.median': eager({ mql: parseQuantiles(parseMedian) }, (input) => quantiles('median', input, [0.5])),
  'agg.percentile': eager({ mql: parseQuantiles(parsePercentile) }, (input, ...p) =>
    quantiles(
      'percentile',
      input,
      p.filter((each) => typeof each === 'number'),
    ),
  ),
};

/** Expressions keep nothing from row to row: what they build is counted as it is built. */
function holdNothing(): void {}

const noRow = new BsonDocument();

function overAll(name: string): FunctionDefinition {
  const { start } = accumulatorOf(name);
  const eager: Eager = (...values) => {
    const [only] = values;
    const folded = start(holdNothing, { fn: name, arg: { k: 'lit', value: null } }, 1);
    for (const value of values.length === 1 && Array.isArray(only) ? only : values) folded.add(value, noRow);
    return folded.result();
  };
  return { mql: atLeast(0), eager };
}

function someOf(name: string): FunctionDefinition {
  const { start } = accumulatorOf(name);
  const eager: Eager = (n, input) => {
    const folded = start(holdNothing, { fn: name, arg: { k: 'lit', value: null } }, countOf(n, `$${name}`));
    if (!Array.isArray(input))
      throw new QueryError(5788200, `the input of $${name} must be an array, found ${typeName(input)}`);
    for (const value of input) folded.add(value, noRow);
    return folded.result();
  };
  return { mql: fieldsInOrder(`agg.${name}`, someOfFields, ['n', 'input'], {}), size: 'grows', eager };
}

/** The accumulator's own parser checks everything. */
function parseQuantiles(parseAccumulator: ParseAccumulator): ParseOperand {
  return (operand, context) => {
    const { fn, arg, p } = parseAccumulator(operand, context);
    return call(`agg.${fn}`, [arg, ...(p ?? []).map((each) => literal(each))], context.at);
  };
}

function quantiles(fn: 'median' | 'percentile', input: Maybe, p: readonly number[]): BsonValue {
  const folded = accumulatorOf(fn).start(holdNothing, { fn, arg: { k: 'lit', value: null }, p }, 1);
  for (const value of Array.isArray(input) ? input : [input]) folded.add(value, noRow);
  return folded.result();
}
