/** The operand of an operator whose arguments are named fields of an object. */

import { describe } from '../bson/describe.ts';
import { BsonDocument, type BsonValue, type Maybe } from '../bson/value.ts';
import { constantOf } from '../execute/expressions/constant.ts';
import type { Evaluate } from '../execute/expressions/scope.ts';
import { call, type Expr, literal } from '../plan/expr.ts';
import { QueryError } from '../query-error.ts';
import type { OperandContext, ParseOperand } from './definition.ts';

/** The codes are MongoDB's; each operator has its own. */
export interface Fields {
  /** The required fields, each with the code of the error if it is missing. */
  readonly required: Readonly<Record<string, number>>;
  readonly optional?: readonly string[];
  /** Further optional fields, each with its default. */
  readonly defaults?: Readonly<Record<string, BsonValue>>;
  readonly notObject: number;
  readonly unknown: number;
}

/** Checks that the fields are known and complete. @throws QueryError */
export function namedFields(operand: BsonValue, fields: Fields): BsonDocument {
  const all = namesOf(fields);
  if (!(operand instanceof BsonDocument)) {
    throw new QueryError(
      fields.notObject,
      `expected an object with the fields ${all.join(', ')}, found ${describe(operand)}`,
    );
  }
  for (const name of operand.keys()) {
    if (!all.includes(name))
      throw new QueryError(fields.unknown, `unrecognized parameter '${name}', expected ${all.join(', ')}`);
  }
  for (const [name, code] of Object.entries(fields.required)) {
    if (!operand.has(name)) throw new QueryError(code, `missing '${name}' parameter`);
  }
  return operand;
}

function namesOf({ required, optional = [], defaults = {} }: Fields): readonly string[] {
  return [...Object.keys(required), ...optional, ...Object.keys(defaults)];
}

/** A call with the required fields as arguments, then the optional ones or their defaults. */
export function fieldsInOrder(fn: string, fields: Fields): ParseOperand {
  return (operand, { at, parse }) => {
    const given = namedFields(operand, fields);
    const args = namesOf(fields).map((name) => parsedOr(given.get(name), parse, fields.defaults?.[name]));
    return call(fn, args, at);
  };
}

/** The expression of a field, or a literal if the field is absent. */
export function parsedOr(value: Maybe, parse: OperandContext['parse'], otherwise: Maybe): Expr {
  return value === undefined ? literal(otherwise) : parse(value);
}

/** A call whose first argument is a literal with the names of the given fields, followed by their values. */
export function callWithNames(fn: string, given: BsonDocument, { at, parse }: OperandContext): Expr {
  return call(fn, [literal([...given.keys()]), ...[...given.values()].map((value) => parse(value))], at);
}

/** The arguments of such a call, by name. */
export function argumentsByName([names, ...values]: readonly Evaluate[]): ReadonlyMap<Maybe, Evaluate> {
  const list = names === undefined ? undefined : constantOf(names)?.value;
  return new Map(Array.isArray(list) ? list.map((name, index) => [name, values[index]!]) : []);
}
