/**
 * Accumulators as expressions. $sum, $avg, $min, $max, $stdDevPop and $stdDevSamp fold their arguments, or the elements of a
 * single array. $firstN, $lastN, $minN and $maxN take `n` and an array. $median and $percentile take an array or a value.
 */

import type { ParseAccumulator } from '../accumulators/definition.ts';
import { countOf, inputFields } from '../accumulators/n-operands.ts';
import { parseMedian, parsePercentile } from '../accumulators/percentile-operand.ts';
import { accumulatorOf } from '../accumulators/registry.ts';
import { typeName } from '../bson/type.ts';
import { BsonDocument, type BsonValue, type Maybe } from '../bson/value.ts';
import { call, literal } from '../plan/expr.ts';
import { QueryError } from '../query-error.ts';
import { atLeast, eager, type FunctionDefinition, type Functions, type ParseOperand } from './definition.ts';
import { fieldsInOrder } from './named-fields.ts';

export const fold: Functions = {
  ...Object.fromEntries(
    ['sum', 'avg', 'min', 'max', 'stdDevPop', 'stdDevSamp'].map((name) => [`agg.${name}`, overAll(name)]),
  ),
  ...Object.fromEntries(['firstN', 'lastN', 'minN', 'maxN'].map((name) => [`agg.${name}`, someOf(name)])),
  'agg.median': eager({ mql: parseQuantiles(parseMedian) }, (input) =>
    foldOf('median', 1, Array.isArray(input) ? input : [input]),
  ),
  'agg.percentile': eager({ mql: parseQuantiles(parsePercentile) }, (input, ...p) => {
    const probabilities = p.filter((each) => typeof each === 'number');
    return foldOf('percentile', 1, Array.isArray(input) ? input : [input], probabilities);
  }),
};

/** Memory of expressions is counted when they build values, not here. */
function holdNothing(): void {}

const noRow = new BsonDocument();

/** Folds values with the accumulator of this name. */
function foldOf(fn: string, n: number, values: readonly Maybe[], p?: readonly number[]): BsonValue {
  const folded = accumulatorOf(fn).start(holdNothing, { fn, arg: literal(null), ...(p && { p }) }, n);
  for (const value of values) folded.add(value, noRow);
  return folded.result();
}

function overAll(name: string): FunctionDefinition {
  return eager({ mql: atLeast(0) }, (...values) => {
    const [only] = values;
    return foldOf(name, 1, values.length === 1 && Array.isArray(only) ? only : values);
  });
}

function someOf(name: string): FunctionDefinition {
  return eager({ mql: fieldsInOrder(`agg.${name}`, inputFields), size: 'grows' }, (n, input) => {
    const count = countOf(n, `$${name}`);
    if (Array.isArray(input)) return foldOf(name, count, input);
    throw new QueryError(5788200, `the input of $${name} must be an array, found ${typeName(input)}`);
  });
}

/** The accumulator's parser checks everything. */
function parseQuantiles(parseAccumulator: ParseAccumulator): ParseOperand {
  return (operand, context) => {
    const { fn, arg, p } = parseAccumulator(operand, context);
    return call(`agg.${fn}`, [arg, ...(p ?? []).map((each) => literal(each))], context.at);
  };
}
