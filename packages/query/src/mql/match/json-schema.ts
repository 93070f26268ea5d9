/** $jsonSchema: a schema of draft 4 with `bsonType`, checked here completely. */

import { describe } from '../../bson/describe.ts';
import { isNumeric, typeNumbers } from '../../bson/type.ts';
import { BsonDocument, type BsonValue, Regex } from '../../bson/value.ts';
import { compileJsonSchema, unorderedKey } from '../../execute/match/json-schema.ts';
import { malformed, QueryError } from '../../query-error.ts';
import { checkRegex } from './filter-operators.ts';

type Check = (value: BsonValue, at: string) => void;

/** @throws QueryError FailedToParse and TypeMismatch, for example for an unknown keyword. */
export function checkJsonSchema(value: BsonValue, at: string): BsonDocument {
  if (!(value instanceof BsonDocument)) {
    throw new QueryError('TypeMismatch', `$jsonSchema must be an object, found ${describe(value)}`, { path: at });
  }
  schema(value, at);
  compileJsonSchema(value);
  return value;
}

function schema(value: BsonValue, at: string): void {
  const document = object(value, at);
  if (document.has('type') && document.has('bsonType'))
    throw malformed("only one of 'type' and 'bsonType'", { path: at });
  for (const [name, below] of document) {
    const check = Object.hasOwn(keywords, name) ? keywords[name] : undefined;
    if (check === undefined) throw malformed(`unknown keyword '${name}' of $jsonSchema`, { path: at });
    check(below, `${at}.${name}`);
  }
  for (const [bound, flag] of [
    ['maximum', 'exclusiveMaximum'],
    ['minimum', 'exclusiveMinimum'],
  ] as const) {
    if (document.has(flag) && !document.has(bound)) throw malformed(`'${flag}' needs '${bound}'`, { path: at });
  }
}

const names: Check = (value, at) => {
  const list = nonEmpty(value, at);
  for (const item of list) if (typeof item !== 'string') throw mismatch('names', item, at);
  if (new Set(list).size < list.length) throw malformed('a name occurs twice', { path: at });
};
const schemas: Check = (value, at) => {
  for (const [index, item] of nonEmpty(value, at).entries()) schema(item, `${at}.${index}`);
};
const schemaByName: Check = (value, at) => {
  for (const [name, below] of object(value, at)) schema(below, `${at}.${name}`);
};
const schemaOrFlag: Check = (value, at) => {
  if (typeof value !== 'boolean') schema(value, at);
};
const flag: Check = (value, at) => {
  if (typeof value !== 'boolean') throw mismatch('a boolean', value, at);
};
const number: Check = (value, at) => {
  if (!isNumeric(value)) throw mismatch('a number', value, at);
};
const size: Check = (value, at) => {
  number(value, at);
  const count = Number(value instanceof Object && 'value' in value ? value.value : value);
  if (!(count >= 0) || !Number.isInteger(count)) throw malformed('expected a non-negative whole number', { path: at });
};
const text: Check = (value, at) => {
  if (typeof value !== 'string') throw mismatch('a string', value, at);
};
const choices: Check = (value, at) => {
  const list = nonEmpty(value, at);
  if (new Set(list.map(unorderedKey)).size < list.length) throw malformed('a value occurs twice', { path: at });
};
const types =
  (known: readonly string[]): Check =>
  (value, at) => {
    const items = Array.isArray(value) ? nonEmpty(value, at) : [value];
    if (new Set(items).size < items.length) throw malformed('a type occurs twice', { path: at });
    for (const item of items) {
      if (typeof item !== 'string') throw mismatch('the name of a type', item, at);
      if (item === 'integer' && !known.includes('integer'))
        throw malformed("the type 'integer' is not supported", { path: at });
      if (!known.includes(item)) throw new QueryError('BadValue', `unknown type name alias: ${item}`, { path: at });
    }
  };
const jsonTypes = ['object', 'array', 'number', 'boolean', 'string', 'null'];

const keywords: Readonly<Record<string, Check>> = {
  ...{ bsonType: types([...Object.keys(typeNumbers), 'number']), type: types(jsonTypes) },
  ...{ required: names, enum: choices },
  ...{ properties: schemaByName, additionalProperties: schemaOrFlag, additionalItems: schemaOrFlag, not: schema },
  patternProperties: (value, at) => {
    for (const pattern of object(value, at).keys()) checkRegex(new Regex(pattern), at);
    schemaByName(value, at);
  },
  dependencies: (value, at) => {
    for (const [name, below] of object(value, at)) {
      (Array.isArray(below) ? names : schema)(below, `${at}.${name}`);
    }
  },
  items: (value, at) => (Array.isArray(value) ? schemas : schema)(value, at),
  ...{ allOf: schemas, anyOf: schemas, oneOf: schemas },
  ...{ minItems: size, maxItems: size, minProperties: size, maxProperties: size, minLength: size, maxLength: size },
  ...{ minimum: number, maximum: number, exclusiveMinimum: flag, exclusiveMaximum: flag, uniqueItems: flag },
  multipleOf: (value, at) => {
    number(value, at);
    if (!(Number(value instanceof Object && 'value' in value ? value.value : value) > 0)) {
      throw malformed('expected a positive number', { path: at });
    }
  },
  pattern: (value, at) => {
    text(value, at);
    if (typeof value === 'string') checkRegex(new Regex(value), at);
  },
  ...{ title: text, description: text },
};

function object(value: BsonValue, at: string): BsonDocument {
  if (value instanceof BsonDocument) return value;
  throw mismatch('an object', value, at);
}

function nonEmpty(value: BsonValue, at: string): readonly BsonValue[] {
  if (!Array.isArray(value)) throw mismatch('an array', value, at);
  if (value.length === 0) throw malformed('expected a non-empty array', { path: at });
  return value;
}

function mismatch(expected: string, found: BsonValue, at: string): QueryError {
  return new QueryError('TypeMismatch', `expected ${expected}, found ${describe(found)}`, { path: at });
}
