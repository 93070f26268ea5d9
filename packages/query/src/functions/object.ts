/** $objectToArray, $arrayToObject, $mergeObjects, $getField, $setField. */

import { describe } from '../bson/describe.ts';
import { isNullish, typeName } from '../bson/type.ts';
import { BsonDocument, type BsonValue, type Maybe } from '../bson/value.ts';
import { call, type Expr, literal } from '../plan/expr.ts';
import { QueryError } from '../query-error.ts';
import { atLeast, eager, type Functions, type OperandContext } from './definition.ts';
import { namedFields } from './named-fields.ts';

export const object: Functions = {
  'agg.objectToArray': eager({ mql: 1, size: 'grows' }, (value) => {
    if (isNullish(value)) return null;
    if (!(value instanceof BsonDocument))
      throw new QueryError(40390, `$objectToArray requires a document input, found: ${typeName(value)}`);
    return Array.from(value, ([name, field]) => BsonDocument.of({ k: name, v: field }));
  }),
  'agg.arrayToObject': eager({ mql: 1, size: 'grows' }, (value) => {
    if (isNullish(value)) return null;
    if (!Array.isArray(value))
      throw new QueryError(40386, `$arrayToObject requires an array, found: ${typeName(value)}`);
    const [first] = value;
    if (first === undefined) return new BsonDocument();
    if (Array.isArray(first)) return new BsonDocument(value.map(fieldOfPair));
    if (first instanceof BsonDocument) return new BsonDocument(value.map(fieldOfObject));
    throw new QueryError(40398, `$arrayToObject takes pairs or objects with k and v, found ${typeName(first)}`);
  }),
  'agg.mergeObjects': eager({ mql: atLeast(0), size: 'grows' }, (...values) => {
    const [only] = values;
    const merged = new BsonDocument();
    for (const value of values.length === 1 && Array.isArray(only) ? only : values) {
      if (isNullish(value)) continue;
      if (!(value instanceof BsonDocument))
        throw new QueryError(40400, `$mergeObjects requires object inputs, but input is of type ${typeName(value)}`);
      for (const [name, field] of value) merged.set(name, field);
    }
    return merged;
  }),
  'agg.getField': eager({ mql: parseGetField }, (name, input) => {
    if (typeof name !== 'string')
      throw new QueryError(3041704, `$getField requires 'field' to evaluate to a string, found ${typeName(name)}`);
    if (isNullish(input)) return input === undefined ? undefined : null;
    return input instanceof BsonDocument ? input.get(name) : undefined;
  }),
  /** Without a value the field is removed. */
  'agg.unsetField': { mql: parseUnsetField },
  'agg.setField': eager({ mql: parseSetField, size: 'grows' }, (name, input, value) => {
    if (isNullish(input)) return null;
    if (!(input instanceof BsonDocument))
      throw new QueryError(4161105, `$setField requires 'input' to evaluate to an object, found ${typeName(input)}`);
    const result = new BsonDocument(input);
    if (value === undefined) result.delete(String(name));
    else result.set(String(name), value);
    return result;
  }),
};

function fieldOfPair(pair: BsonValue): [string, BsonValue] {
  if (!Array.isArray(pair))
    throw new QueryError(40396, `$arrayToObject: all elements must be pairs as the first is, found ${typeName(pair)}`);
  const [name, value] = pair;
  if (name === undefined || value === undefined || pair.length !== 2)
    throw new QueryError(40397, `$arrayToObject takes pairs, found an array of ${pair.length}`);
  return [fieldName(name, 40395, 4940400), value];
}

function fieldOfObject(item: BsonValue): [string, BsonValue] {
  if (!(item instanceof BsonDocument))
    throw new QueryError(
      40391,
      `$arrayToObject: all elements must be objects as the first is, found ${typeName(item)}`,
    );
  if (item.size !== 2)
    throw new QueryError(40392, `$arrayToObject takes objects with k and v, found ${item.size} fields`);
  const [name, value] = [item.get('k'), item.get('v')];
  if (name === undefined || value === undefined)
    throw new QueryError(40393, `$arrayToObject takes objects with k and v, found ${[...item.keys()].join(', ')}`);
  return [fieldName(name, 40394, 4940401), value];
}

function fieldName(name: Maybe, notText: number, nullByte: number): string {
  if (typeof name !== 'string')
    throw new QueryError(notText, `$arrayToObject takes strings as names of fields, found ${typeName(name)}`);
  if (name.includes('\0')) throw new QueryError(nullByte, '$arrayToObject: a name must not contain a null byte');
  return name;
}

/** `{field, input}`, or only the field, which is then read from $$CURRENT. */
function parseGetField(operand: BsonValue, { at, vars, parse }: OperandContext): Expr {
  const named = operand instanceof BsonDocument && ![...operand.keys()][0]?.startsWith('$');
  const current = (): Expr => parse('$$CURRENT', at, vars);
  if (!named) return call('agg.getField', [checkedName(parse(operand)), current()], at);
  const parts = namedFields(operand, {
    required: { field: 3041702, input: 3041703 },
    notObject: 3041701,
    unknown: 3041701,
  });
  return call('agg.getField', [checkedName(parse(parts.get('field')!)), parse(parts.get('input')!)], at);
}

function parseSetField(operand: BsonValue, { at, parse }: OperandContext): Expr {
  const parts = namedFields(operand, {
    required: { field: 4161102, value: 4161103, input: 4161109 },
    notObject: 4161100,
    unknown: 4161101,
  });
  const args = [parts.get('input')!, parts.get('value')!].map((part) => parse(part));
  return call('agg.setField', [constantName(parts.get('field')!, parse), ...args], at);
}

function parseUnsetField(operand: BsonValue, { at, parse }: OperandContext): Expr {
  const parts = namedFields(operand, {
    required: { field: 4161102, input: 4161109 },
    notObject: 4161100,
    unknown: 4161101,
  });
  const input = parse(parts.get('input')!);
  return call('agg.setField', [constantName(parts.get('field')!, parse), input, literal(undefined)], at);
}

function checkedName(name: Expr): Expr {
  if (name.k !== 'lit') return name;
  if (typeof name.value !== 'string')
    throw new QueryError(3041704, `$getField requires a string as 'field', found ${describe(name.value)}`);
  if (name.value.includes('\0')) throw new QueryError(9534700, "'field' must not contain a null byte");
  return name;
}

/** The field of $setField must be a constant, if necessary with $literal; an array counts as computed. */
function constantName(field: BsonValue, parse: (value: BsonValue) => Expr): Expr {
  if (typeof field === 'string' && field.startsWith('$'))
    throw new QueryError(
      4161108,
      `'field' must be a constant, found the path ${field}: use $literal for a name that begins with '$'`,
    );
  const name = parse(field);
  if (name.k !== 'lit' || Array.isArray(field)) throw new QueryError(4161106, "'field' must be a constant");
  if (typeof name.value !== 'string')
    throw new QueryError(4161107, `'field' must be a string, found ${describe(name.value)}`);
  if (name.value.includes('\0')) throw new QueryError(9534700, "'field' must not contain a null byte");
  return name;
}
