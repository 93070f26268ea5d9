/** The operands of $median and $percentile. */

import { describe } from '../bson/describe.ts';
import { isNumeric } from '../bson/type.ts';
import type { BsonDocument, BsonValue } from '../bson/value.ts';
import type { OperandContext } from '../functions/definition.ts';
import { namedFields } from '../functions/named-fields.ts';
import { toDouble } from '../functions/numbers/number.ts';
import type { Accumulator } from '../plan/accumulator.ts';
import { QueryError } from '../query-error.ts';

export function parseMedian(operand: BsonValue, { at, parse }: OperandContext): Accumulator {
  const parts = namedFields(operand, {
    required: { input: 40414, method: 40414 },
    notObject: 7436100,
    unknown: 40415,
  });
  checkMethod(parts);
  return { fn: 'median', arg: parse(parts.get('input')!, `${at}.input`) };
}

export function parsePercentile(operand: BsonValue, context: OperandContext): Accumulator {
  const { at, parse } = context;
  const parts = namedFields(operand, {
    required: { input: 40414, p: 40414, method: 40414 },
    notObject: 7429703,
    unknown: 40415,
  });
  checkMethod(parts);
  const arg = parse(parts.get('input')!, `${at}.input`);
  return { fn: 'percentile', arg, p: probabilitiesOf(parts.get('p')!, { ...context, at: `${at}.p` }) };
}

function checkMethod(parts: BsonDocument): void {
  const method = parts.get('method');
  if (method === 'approximate') return;
  const code = typeof method === 'string' ? 'BadValue' : 'TypeMismatch';
  throw new QueryError(code, `the method is 'approximate', found ${describe(method)}`);
}

/** @throws QueryError 7750300 not constant, 7750301 not an array, 7750302 not a number, 7750303 not from 0 to 1. */
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
