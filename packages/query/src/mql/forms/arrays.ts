/** $sortArray and $zip. */

import { decimalToNumber } from '../../bson/decimal.ts';
import { isNumeric } from '../../bson/type.ts';
import { BsonDocument, type BsonValue, Decimal128, Int32 } from '../../bson/value.ts';
import { call, type Expr, literal } from '../../plan/expr.ts';
import { QueryError } from '../../query-error.ts';
import { describe } from '../describe.ts';
import type { SpecialForm } from './form.ts';
import { namedParts } from './named-parts.ts';

export const arrayForms: Readonly<Record<string, SpecialForm>> = {
  $sortArray: (operand, at, _vars, parse) => {
    const parts = namedParts(operand, at, {
      required: ['input', 'sortBy'],
      optional: [],
      notObject: 2942500,
      unknown: 2942501,
      missing: { input: 2942502, sortBy: 2942503 },
    });
    const keys = sortKeys(parts.get('sortBy')!, at);
    return call('agg.sortArray', [parse(parts.get('input')!), ...keys], at);
  },

  $zip: (operand, at, _vars, parse) => {
    const fail = (code: number, reason: string): QueryError => new QueryError(code, reason, { path: at });
    if (!(operand instanceof BsonDocument)) throw fail(34460, `$zip takes an object, found ${describe(operand)}`);
    let inputs: BsonValue[] = [];
    let defaults: BsonValue[] = [];
    let longest = false;
    for (const [name, value] of operand) {
      if (name === 'inputs') {
        if (!Array.isArray(value))
          throw fail(34461, `inputs must be an array of expressions, found ${describe(value)}`);
        inputs = value;
      } else if (name === 'defaults') {
        if (!Array.isArray(value))
          throw fail(34462, `defaults must be an array of expressions, found ${describe(value)}`);
        defaults = value;
      } else if (name === 'useLongestLength') {
        if (typeof value !== 'boolean') throw fail(34463, `useLongestLength must be a bool, found ${describe(value)}`);
        longest = value;
      } else throw fail(34464, `$zip found an unknown argument: ${name}`);
    }
    if (inputs.length === 0) throw fail(34465, '$zip requires at least one input array');
    if (!longest && defaults.length > 0) throw fail(34466, 'defaults need useLongestLength to be true');
    if (defaults.length > 0 && defaults.length !== inputs.length)
      throw fail(34467, `defaults and inputs must have the same length, found ${defaults.length} and ${inputs.length}`);
    const values = [...inputs, ...defaults].map((value) => parse(value));
    return call('agg.zip', [literal(new Int32(inputs.length)), literal(longest), ...values], at);
  },
};

/** For each key its path and its direction; the path is empty for the element itself. */
function sortKeys(sortBy: BsonValue, at: string): Expr[] {
  const fail = (code: number, reason: string): QueryError => new QueryError(code, reason, { path: at });
  if (isNumeric(sortBy)) {
    const sign = signOf(sortBy);
    if (sign === undefined) throw fail(2942506, `sortBy must be 1 or -1, found ${describe(sortBy)}`);
    return [literal(''), literal(new Int32(sign))];
  }
  if (!(sortBy instanceof BsonDocument))
    throw fail(2942507, `sortBy must be 1, -1 or an object of fields, found ${describe(sortBy)}`);
  if (sortBy.size === 0) throw fail(2942505, 'the sort pattern must name at least one field');
  return [...sortBy].flatMap(([path, direction]) => {
    const sign = signOf(direction);
    if (sign === undefined)
      throw fail(2942505, `the direction of '${path}' must be 1 or -1, found ${describe(direction)}`);
    if (path.split('.').includes('')) throw fail(2942505, `a sort field must not have empty parts: '${path}'`);
    return [literal(path), literal(new Int32(sign))];
  });
}

function signOf(value: BsonValue): 1 | -1 | undefined {
  const number = value instanceof Int32 ? value.value : value instanceof Decimal128 ? decimalToNumber(value) : value;
  if (number === 1 || number === 1n) return 1;
  return number === -1 || number === -1n ? -1 : undefined;
}
