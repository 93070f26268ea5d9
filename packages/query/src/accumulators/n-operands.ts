/** The operands of $firstN, $lastN, $minN and $maxN; of $top, $bottom, $topN and $bottomN. */

import { describe } from '../bson/describe.ts';
import { BsonDocument, type BsonValue } from '../bson/value.ts';
import type { OperandContext } from '../functions/definition.ts';
import { parseSortKeys } from '../mql/stages/sort.ts';
import { type Expr, literal } from '../plan/expr.ts';
import { QueryError } from '../query-error.ts';
import { countOf } from './count-of.ts';
import type { ParseAccumulator } from './definition.ts';

export function parseInput(fn: string): ParseAccumulator {
  return (operand, context) => {
    const { at, parse } = context;
    const parts = partsOf(fn, operand, ['n', 'input'], at, 5787900, 5787901);
    const n = parts.get('n');
    const input = parts.get('input');
    if (n === undefined) throw missing(fn, 'n', at, 5787906);
    if (input === undefined) throw missing(fn, 'input', at, 5787907);
    return { fn, n: parseCount(n, fn, { ...context, at: `${at}.n` }), arg: parse(input, `${at}.input`) };
  };
}

/** @param many how many rows is asked for. */
export function parseOrdered(fn: string, many: boolean): ParseAccumulator {
  return (operand, context) => {
    const { at, parse } = context;
    const names = ['sortBy', 'output', ...(many ? ['n'] : [])];
    const parts = partsOf(fn, operand, names, at, 5788001, 5788002);
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
    const arg = parse(output, `${at}.output`);
    return n === undefined ? { fn, arg, by } : { fn, arg, by, n: parseCount(n, fn, { ...context, at: `${at}.n` }) };
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
function parseCount(value: BsonValue, fn: string, { at, parse, constant: constantOf }: OperandContext): Expr {
  const expr = parse(value, at);
  const constant = constantOf(expr);
  if (constant === undefined) return expr;
  countOf(constant.value, `$${fn}`);
  return literal(constant.value);
}
