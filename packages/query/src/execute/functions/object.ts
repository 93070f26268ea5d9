/** $objectToArray, $arrayToObject, $mergeObjects, $getField, $setField. */

import { isNullish, typeName } from '../../bson/type.ts';
import { BsonDocument, type BsonValue, type Maybe } from '../../bson/value.ts';
import { QueryError } from '../../query-error.ts';
import type { Eager } from './registry.ts';

export const object: Readonly<Record<string, Eager>> = {
  'agg.objectToArray': (value) => {
    if (isNullish(value)) return null;
    if (!(value instanceof BsonDocument))
      throw new QueryError(40390, `$objectToArray requires a document input, found: ${typeName(value)}`);
    return Array.from(value, ([name, field]) => BsonDocument.of({ k: name, v: field }));
  },
  'agg.arrayToObject': (value) => {
    if (isNullish(value)) return null;
    if (!Array.isArray(value))
      throw new QueryError(40386, `$arrayToObject requires an array, found: ${typeName(value)}`);
    const [first] = value;
    if (first === undefined) return new BsonDocument();
    if (Array.isArray(first)) return new BsonDocument(value.map(fieldOfPair));
    if (first instanceof BsonDocument) return new BsonDocument(value.map(fieldOfObject));
    throw new QueryError(40398, `$arrayToObject takes pairs or objects with k and v, found ${typeName(first)}`);
  },
  'agg.mergeObjects': (...values) => {
    const [only] = values;
    const merged = new BsonDocument();
    for (const value of values.length === 1 && Array.isArray(only) ? only : values) {
      if (isNullish(value)) continue;
      if (!(value instanceof BsonDocument))
        throw new QueryError(40400, `$mergeObjects requires object inputs, but input is of type ${typeName(value)}`);
      for (const [name, field] of value) merged.set(name, field);
    }
    return merged;
  },
  'agg.getField': (name, input) => {
    if (typeof name !== 'string')
      throw new QueryError(3041704, `$getField requires 'field' to evaluate to a string, found ${typeName(name)}`);
    if (isNullish(input)) return input === undefined ? undefined : null;
    return input instanceof BsonDocument ? input.get(name) : undefined;
  },
  /** Without a value the field goes. */
  'agg.setField': (name, input, value) => {
    if (isNullish(input)) return null;
    if (!(input instanceof BsonDocument))
      throw new QueryError(4161105, `$setField requires 'input' to evaluate to an object, found ${typeName(input)}`);
    const result = new BsonDocument(input);
    if (value === undefined) result.delete(String(name));
    else result.set(String(name), value);
    return result;
  },
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
