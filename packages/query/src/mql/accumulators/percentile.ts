/** $median and $percentile. */

import { isNumeric } from '../../bson/type.ts';
import { BsonDocument, type BsonValue } from '../../bson/value.ts';
import { toDouble } from '../../execute/functions/numbers/number.ts';
import type { Expr } from '../../plan/expr.ts';
import type { Accumulator } from '../../plan/stage.ts';
import { QueryError } from '../../query-error.ts';
import { describe } from '../describe.ts';
import { constantOf } from '../window/constant.ts';

/** Parses an expression inside of one. @param vars names that are bound there. Default: those bound around. */
type ParseInner = (value: BsonValue, at: string, vars?: readonly string[]) => Expr;

export const percentileAccumulators: Readonly<
  Record<string, (argument: BsonValue, at: string, parse: ParseInner) => Accumulator>
> = {
  $median: (argument, at, parse) => {
    const parts = partsOf('$median', argument, ['input', 'method'], at, 7436100);
    checkMethod(parts, at);
    return { fn: 'median', arg: parse(parts.get('input')!, `${at}.input`) };
  },
  $percentile: (argument, at, parse) => {
    const parts = partsOf('$percentile', argument, ['input', 'p', 'method'], at, 7429703);
    checkMethod(parts, at);
    const arg = parse(parts.get('input')!, `${at}.input`);
    return { fn: 'percentile', arg, p: probabilitiesOf(parts.get('p')!, `${at}.p`, parse) };
  },
};

function partsOf(
  name: string,
  argument: BsonValue,
  names: readonly string[],
  at: string,
  notObject: number,
): BsonDocument {
  if (!(argument instanceof BsonDocument)) {
    throw new QueryError(notObject, `${name} takes an object with ${names.join(', ')}, found ${describe(argument)}`, {
      path: at,
    });
  }
  for (const part of argument.keys()) {
    if (!names.includes(part)) throw new QueryError(40415, `${name} has no field '${part}'`, { path: at });
  }
  for (const part of names) {
    if (!argument.has(part)) throw new QueryError(40414, `${name} needs the field '${part}'`, { path: at });
  }
  return argument;
}

function checkMethod(parts: BsonDocument, at: string): void {
  const method = parts.get('method');
  if (method === 'approximate') return;
  const code = typeof method === 'string' ? 'BadValue' : 'TypeMismatch';
  throw new QueryError(code, `the method is 'approximate', found ${describe(method)}`, { path: at });
}

/** @throws QueryError 7750300 not constant, 7750301 no array, 7750302 no number, 7750303 not from 0 to 1. */
function probabilitiesOf(value: BsonValue, at: string, parse: ParseInner): number[] {
  const constant = constantOf(parse(value, at, []));
  if (constant === undefined) {
    throw new QueryError(7750300, `'p' must be a constant, found ${describe(value)}`, { path: at });
  }
  const list = constant.value;
  if (!Array.isArray(list) || list.length === 0) {
    throw new QueryError(7750301, `'p' must be an array that is not empty, found ${describe(list)}`, { path: at });
  }
  return list.map((item) => {
    if (!isNumeric(item)) throw new QueryError(7750302, `'p' holds numbers, found ${describe(item)}`, { path: at });
    const p = toDouble(item);
    if (p >= 0 && p <= 1) return p;
    throw new QueryError(7750303, `'p' holds numbers from 0 to 1, found ${p}`, { path: at });
  });
}
