/** The operands of $median and $percentile. */

import { describe } from '../bson/describe.ts';
import { isNumeric } from '../bson/type.ts';
import { BsonDocument, type BsonValue } from '../bson/value.ts';
import type { OperandContext } from '../functions/definition.ts';
import { toDouble } from '../functions/numbers/number.ts';
import type { Accumulator } from '../plan/stage.ts';
import { QueryError } from '../query-error.ts';

export function parseMedian(operand: BsonValue, { at, parse }: OperandContext): Accumulator {
  const parts = partsOf('$median', operand, ['input', 'method'], at, 7436100);
  checkMethod(parts, at);
  return { fn: 'median', arg: parse(parts.get('input')!, `${at}.input`) };
}

export function parsePercentile(operand: BsonValue, context: OperandContext): Accumulator {
  const { at, parse } = context;
  const parts = partsOf('$percentile', operand, ['input', 'p', 'method'], at, 7429703);
  checkMethod(parts, at);
  const arg = parse(parts.get('input')!, `${at}.input`);
  return { fn: 'percentile', arg, p: probabilitiesOf(parts.get('p')!, { ...context, at: `${at}.p` }) };
}

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
function probabilitiesOf(value: BsonValue, { at, parse, constant: constantOf }: OperandContext): number[] {
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
