/** $getField, $setField and $unsetField. */

import { BsonDocument, type BsonValue } from '../../bson/value.ts';
import { call, type Expr, literal } from '../../plan/expr.ts';
import { QueryError } from '../../query-error.ts';
import { describe } from '../describe.ts';
import type { SpecialForm } from './form.ts';
import { namedParts } from './named-parts.ts';

export const objectForms: Readonly<Record<string, SpecialForm>> = {
  /** `{field, input}`, or the field alone, which is then taken from $$CURRENT. */
  $getField: (operand, at, vars, parse) => {
    const named = operand instanceof BsonDocument && ![...operand.keys()][0]?.startsWith('$');
    const current = (): Expr => parse('$$CURRENT', at, vars);
    if (!named) return call('agg.getField', [checkedName(parse(operand), at), current()], at);
    const parts = namedParts(operand, at, {
      required: ['field', 'input'],
      optional: [],
      notObject: 3041701,
      unknown: 3041701,
      missing: { field: 3041702, input: 3041703 },
    });
    return call('agg.getField', [checkedName(parse(parts.get('field')!), at), parse(parts.get('input')!)], at);
  },

  $setField: (operand, at, _vars, parse) => {
    const parts = namedParts(operand, at, {
      required: ['field', 'value', 'input'],
      optional: [],
      notObject: 4161100,
      unknown: 4161101,
      missing: { field: 4161102, value: 4161103, input: 4161109 },
    });
    const args = [parts.get('input')!, parts.get('value')!].map((part) => parse(part));
    return call('agg.setField', [constantName(parts.get('field')!, at, parse), ...args], at);
  },

  $unsetField: (operand, at, _vars, parse) => {
    const parts = namedParts(operand, at, {
      required: ['field', 'input'],
      optional: [],
      notObject: 4161100,
      unknown: 4161101,
      missing: { field: 4161102, input: 4161109 },
    });
    const input = parse(parts.get('input')!);
    return call('agg.setField', [constantName(parts.get('field')!, at, parse), input, literal(undefined)], at);
  },
};

function checkedName(name: Expr, at: string): Expr {
  if (name.k !== 'lit') return name;
  if (typeof name.value !== 'string')
    throw new QueryError(3041704, `$getField requires a string as 'field', found ${describe(name.value)}`, {
      path: at,
    });
  if (name.value.includes('\0')) throw new QueryError(9534700, "'field' must not contain a null byte", { path: at });
  return name;
}

/** The field of $setField is written out, in the end with $literal; an array counts as computed. */
function constantName(field: BsonValue, at: string, parse: (value: BsonValue) => Expr): Expr {
  const fail = (code: number, reason: string): QueryError => new QueryError(code, reason, { path: at });
  if (typeof field === 'string' && field.startsWith('$'))
    throw fail(
      4161108,
      `'field' must be a constant, found the path ${field}: use $literal for a name that begins with '$'`,
    );
  const name = parse(field);
  if (name.k !== 'lit' || Array.isArray(field)) throw fail(4161106, "'field' must be a constant");
  if (typeof name.value !== 'string') throw fail(4161107, `'field' must be a string, found ${describe(name.value)}`);
  if (name.value.includes('\0')) throw fail(9534700, "'field' must not contain a null byte");
  return name;
}
