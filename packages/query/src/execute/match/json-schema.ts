/** Tests whether a document meets a JSON schema. A keyword for another type than the value's always holds. */

import { compareValues } from '../../bson/compare.ts';
import { compileRegex } from '../../bson/compile-regex.ts';
import { remainder } from '../../bson/decimal-arithmetic.ts';
import { valueKey } from '../../bson/key.ts';
import { isNumeric, typeName } from '../../bson/type.ts';
import { BsonDocument, type BsonValue, Int32, type Maybe, Regex } from '../../bson/value.ts';
import { toDecimal, toDouble } from '../../functions/numbers/number.ts';

type Test = (value: BsonValue) => boolean;

/** @param schema already checked when the query was parsed. */
export function compileJsonSchema(schema: Maybe): Test {
  const keywords = schema instanceof BsonDocument ? schema : new BsonDocument();
  const tests = [...keywords].flatMap(([name, value]) => {
    const test = compilers[name]?.(value, keywords);
    return test === undefined ? [] : [test];
  });
  return (value) => tests.every((test) => test(value));
}

type Compile = (value: BsonValue, schema: BsonDocument) => Test | undefined;

const ofDocuments =
  (holds: (document: BsonDocument) => boolean): Test =>
  (value) =>
    !(value instanceof BsonDocument) || holds(value);
const ofArrays =
  (holds: (items: readonly BsonValue[]) => boolean): Test =>
  (value) =>
    !Array.isArray(value) || holds(value);
const ofTexts =
  (holds: (text: string) => boolean): Test =>
  (value) =>
    typeof value !== 'string' || holds(value);
const ofNumbers =
  (holds: (order: number) => boolean, bound: BsonValue): Test =>
  (value) =>
    !isNumeric(value) || holds(compareValues(value, bound));

const all = (tests: readonly Test[]): Test => {
  return (value) => tests.every((test) => test(value));
};
const schemasOf = (value: BsonValue): readonly Test[] => (Array.isArray(value) ? value.map(compileJsonSchema) : []);
const textsOf = (value: BsonValue): readonly string[] => (Array.isArray(value) ? value : [value]).map(String);
const schemasByName = (value: Maybe): readonly (readonly [string, Test])[] =>
  value instanceof BsonDocument ? [...value].map(([name, below]) => [name, compileJsonSchema(below)] as const) : [];

const compilers: Readonly<Record<string, Compile>> = {
  bsonType: (value) => typeTest(textsOf(value)),
  type: (value) => typeTest(textsOf(value).map((name) => (name === 'boolean' ? 'bool' : name))),
  enum: (value) => {
    const keys = new Set(Array.isArray(value) ? value.map(unorderedKey) : []);
    return (found) => keys.has(unorderedKey(found));
  },
  allOf: (value) => all(schemasOf(value)),
  anyOf: (value) => {
    const tests = schemasOf(value);
    return (found) => tests.some((test) => test(found));
  },
  oneOf: (value) => {
    const tests = schemasOf(value);
    return (found) => tests.filter((test) => test(found)).length === 1;
  },
  not: (value) => {
    const test = compileJsonSchema(value);
    return (found) => !test(found);
  },
  required: (value) => ofDocuments((document) => textsOf(value).every((name) => document.has(name))),
  properties: (value) => {
    const tests = schemasByName(value);
    return ofDocuments((document) => tests.every(([name, test]) => !document.has(name) || test(document.get(name)!)));
  },
  patternProperties: (value) => {
    const tests = patternsOf(value);
    return ofDocuments((document) =>
      [...document].every(([name, field]) => tests.every(([matches, test]) => !matches(name) || test(field))),
    );
  },
  additionalProperties: (value, schema) => {
    const properties = schema.get('properties');
    const known = new Set(properties instanceof BsonDocument ? properties.keys() : []);
    const patterns = patternsOf(schema.get('patternProperties'));
    const test = flagOrSchema(value);
    return ofDocuments((document) =>
      [...document].every(([name, field]) => known.has(name) || patterns.some(([has]) => has(name)) || test(field)),
    );
  },
  minProperties: (value) => ofDocuments((document) => document.size >= numberOf(value)),
  maxProperties: (value) => ofDocuments((document) => document.size <= numberOf(value)),
  dependencies: (value) => {
    const tests = value instanceof BsonDocument ? [...value].map(dependency) : [];
    return ofDocuments((document) => tests.every((test) => test(document)));
  },
  items: (value) => {
    if (!Array.isArray(value)) {
      const test = compileJsonSchema(value);
      return ofArrays((items) => items.every(test));
    }
    const tests = schemasOf(value);
    return ofArrays((items) => items.every((item, index) => tests[index]?.(item) ?? true));
  },
  additionalItems: (value, schema) => {
    const items = schema.get('items');
    if (!Array.isArray(items)) return undefined;
    const test = flagOrSchema(value);
    return ofArrays((found) => found.slice(items.length).every(test));
  },
  minItems: (value) => ofArrays((items) => items.length >= numberOf(value)),
  maxItems: (value) => ofArrays((items) => items.length <= numberOf(value)),
  uniqueItems: (value) =>
    value === true ? ofArrays((items) => new Set(items.map(unorderedKey)).size === items.length) : undefined,
  minimum: (value, schema) => {
    const exclusive = schema.get('exclusiveMinimum') === true;
    return ofNumbers((order) => (exclusive ? order > 0 : order >= 0), value);
  },
  maximum: (value, schema) => {
    const exclusive = schema.get('exclusiveMaximum') === true;
    return ofNumbers((order) => (exclusive ? order < 0 : order <= 0), value);
  },
  // In decimals, so that 0.3 is a multiple of 0.1.
  multipleOf: (value) => (found) =>
    !isNumeric(found) ||
    !isNumeric(value) ||
    compareValues(remainder(toDecimal(found), toDecimal(value)), new Int32(0)) === 0,
  minLength: (value) => ofTexts((text) => [...text].length >= numberOf(value)),
  maxLength: (value) => ofTexts((text) => [...text].length <= numberOf(value)),
  pattern: (value) => ofTexts(compileRegex(new Regex(String(value)))),
};

function typeTest(types: readonly string[]): Test {
  return (value) => types.includes(typeName(value)) || (types.includes('number') && isNumeric(value));
}

function flagOrSchema(value: BsonValue): Test {
  return typeof value === 'boolean' ? () => value : compileJsonSchema(value);
}

function patternsOf(value: Maybe): readonly (readonly [(name: string) => boolean, Test])[] {
  return schemasByName(value).map(([pattern, test]) => [compileRegex(new Regex(pattern)), test] as const);
}

function dependency([name, needed]: [string, BsonValue]): Test {
  const test = Array.isArray(needed)
    ? ofDocuments((document) => textsOf(needed).every((each) => document.has(each)))
    : compileJsonSchema(needed);
  return ofDocuments((document) => !document.has(name) || test(document));
}

/** The same for values that are equal apart from the order of fields. */
export function unorderedKey(value: BsonValue): string {
  return valueKey(inOrder(value));
}

function inOrder(value: BsonValue): BsonValue {
  if (Array.isArray(value)) return value.map(inOrder);
  if (!(value instanceof BsonDocument)) return value;
  const fields = [...value].sort(([left], [right]) => (left < right ? -1 : 1));
  return new BsonDocument(fields.map(([name, field]): [string, BsonValue] => [name, inOrder(field)]));
}

function numberOf(value: BsonValue): number {
  return isNumeric(value) ? toDouble(value) : Number.NaN;
}
