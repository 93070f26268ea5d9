/** $firstN, $lastN, $minN and $maxN; $top, $bottom, $topN and $bottomN. */

import { BsonDocument, type BsonValue } from '../../bson/value.ts';
import { countOf } from '../../execute/accumulators/count-of.ts';
import type { Expr } from '../../plan/expr.ts';
import type { AccumulatorName } from '../../plan/stage.ts';
import { QueryError } from '../../query-error.ts';
import { describe } from '../describe.ts';
import { parseExpression } from '../expression.ts';
import { parseSortKeys } from '../stages/sort.ts';
import { constantOf } from '../window/constant.ts';
import type { ParseAccumulator } from './parse-accumulator.ts';

export const nAccumulators: Readonly<Record<string, ParseAccumulator>> = {
  $firstN: ofInput('firstN'),
  $lastN: ofInput('lastN'),
  $minN: ofInput('minN'),
  $maxN: ofInput('maxN'),
  $top: ordered('top', false),
  $bottom: ordered('bottom', false),
  $topN: ordered('topN', true),
  $bottomN: ordered('bottomN', true),
};

function ofInput(fn: AccumulatorName): ParseAccumulator {
  return (argument, at) => {
    const parts = partsOf(fn, argument, ['n', 'input'], at, 5787900, 5787901);
    const n = parts.get('n');
    const input = parts.get('input');
    if (n === undefined) throw missing(fn, 'n', at, 5787906);
    if (input === undefined) throw missing(fn, 'input', at, 5787907);
    return { fn, n: parseCount(n, fn, `${at}.n`), arg: parseExpression(input, `${at}.input`) };
  };
}

function ordered(fn: AccumulatorName, many: boolean): ParseAccumulator {
  return (argument, at) => {
    const names = ['sortBy', 'output', ...(many ? ['n'] : [])];
    const parts = partsOf(fn, argument, names, at, 5788001, 5788002);
    const n = parts.get('n');
    if (many && n === undefined) throw missing(fn, 'n', at, 5788003);
    const output = parts.get('output');
    if (output === undefined) throw missing(fn, 'output', at, 5788004);
    const sortBy = parts.get('sortBy');
    if (sortBy === undefined) throw missing(fn, 'sortBy', at, 5788005);
    if (!(sortBy instanceof BsonDocument)) {
      throw new QueryError(10065, `$${fn} takes an object for 'sortBy', found ${describe(sortBy)}`, { path: at });
    }
    const by = parseSortKeys(sortBy);
    const arg = parseExpression(output, `${at}.output`);
    return n === undefined ? { fn, arg, by } : { fn, arg, by, n: parseCount(n, fn, `${at}.n`) };
  };
}

function partsOf(
  fn: string,
  argument: BsonValue,
  names: readonly string[],
  at: string,
  notObject: number,
  unknown: number,
): BsonDocument {
  if (!(argument instanceof BsonDocument)) {
    throw new QueryError(notObject, `$${fn} takes an object with ${names.join(', ')}, found ${describe(argument)}`, {
      path: at,
    });
  }
  for (const name of argument.keys()) {
    if (names.includes(name)) continue;
    throw new QueryError(unknown, `$${fn} has no argument '${name}', only ${names.join(', ')}`, { path: at });
  }
  return argument;
}

function missing(fn: string, part: string, at: string, code: number): QueryError {
  return new QueryError(code, `$${fn} needs '${part}'`, { path: at });
}

/** A constant is checked here; one that reads the group's key, when there is one. */
function parseCount(value: BsonValue, fn: string, at: string): Expr {
  const expr = parseExpression(value, at);
  const constant = constantOf(expr);
  if (constant === undefined) return expr;
  countOf(constant.value, `$${fn}`);
  return constant;
}
