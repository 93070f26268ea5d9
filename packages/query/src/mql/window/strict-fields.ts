/**
 * The fixed fields of a stage: unknown fields, missing fields and wrong types are refused with the codes that MongoDB uses for all stages.
 */

import { typeName } from '../../bson/type.ts';
import type { BsonDocument, BsonValue } from '../../bson/value.ts';
import { QueryError } from '../../query-error.ts';

/** `any` accepts null as a value; the others treat it as an absent field. */
export type FieldType = 'any' | 'object' | 'string' | 'number' | 'strings' | 'objectOrString';

export interface FieldRule {
  readonly type: FieldType;
  readonly required?: boolean;
}

const accepts: Readonly<Record<FieldType, readonly string[]>> = {
  any: [],
  object: ['object'],
  string: ['string'],
  number: ['int', 'long', 'double', 'decimal'],
  strings: ['array'],
  objectOrString: ['object', 'string'],
};

/** @param at the specification's name in errors. @returns the fields that are present. */
export function strictFields(
  spec: BsonDocument,
  at: string,
  rules: Readonly<Record<string, FieldRule>>,
): ReadonlyMap<string, BsonValue> {
  const found = new Map<string, BsonValue>();
  for (const [name, value] of spec) {
    const rule = Object.hasOwn(rules, name) ? rules[name] : undefined;
    if (rule === undefined) {
      throw new QueryError(40415, `'${at}.${name}' is an unknown field, expected ${Object.keys(rules).join(', ')}`);
    }
    if (rule.type !== 'any') {
      const type = typeName(value);
      if (type === 'null' || type === 'undefined') continue;
      if (!accepts[rule.type].includes(type)) throw wrongType(`${at}.${name}`, type, accepts[rule.type]);
      if (Array.isArray(value)) checkStrings(value, `${at}.${name}`);
    }
    found.set(name, value);
  }
  for (const [name, rule] of Object.entries(rules)) {
    if (rule.required === true && !found.has(name)) {
      throw new QueryError(40414, `'${at}.${name}' is missing but a required field`);
    }
  }
  return found;
}

function checkStrings(values: readonly BsonValue[], at: string): void {
  for (const [index, value] of values.entries()) {
    if (typeof value !== 'string') throw wrongType(`${at}.${index}`, typeName(value), ['string']);
  }
}

function wrongType(at: string, found: string, expected: readonly string[]): QueryError {
  return new QueryError('TypeMismatch', `'${at}' is of type ${found}, expected ${expected.join(' or ')}`);
}
