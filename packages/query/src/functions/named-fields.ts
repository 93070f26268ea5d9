/** The operand of an operator whose arguments are named fields of an object. */

import { describe } from '../bson/describe.ts';
import { BsonDocument, type BsonValue, type Maybe } from '../bson/value.ts';
import { constantOf } from '../execute/expressions/constant.ts';
import type { Evaluate } from '../execute/expressions/scope.ts';
import { call, type Expr, literal } from '../plan/expr.ts';
import { QueryError } from '../query-error.ts';
import type { OperandContext, ParseOperand } from './definition.ts';

/** The codes are MongoDB's, which has its own for each operator. */
export interface Fields {
  readonly required: readonly string[];
  readonly optional: readonly string[];
  readonly notObject: number;
  readonly unknown: number;
  /** One code for all, or one for each required field. */
  readonly missing: number | Readonly<Record<string, number>>;
}

/** Checks that the fields are known and complete. @throws QueryError */
export function namedFields(operand: BsonValue, at: string, fields: Fields): BsonDocument {
  const fail = (code: number, reason: string): QueryError => new QueryError(code, reason, { path: at });
  const all = [...fields.required, ...fields.optional].join(', ');
  if (!(operand instanceof BsonDocument)) {
    throw fail(fields.notObject, `expected an object with the fields ${all}, found ${describe(operand)}`);
  }
  for (const name of operand.keys()) {
    if (!fields.required.includes(name) && !fields.optional.includes(name)) {
      throw fail(fields.unknown, `unrecognized parameter '${name}', expected ${all}`);
    }
  }
  for (const name of fields.required) {
    if (operand.has(name)) continue;
    const code = typeof fields.missing === 'number' ? fields.missing : fields.missing[name]!;
    throw fail(code, `missing '${name}' parameter`);
  }
  return operand;
}

/** A call with the fields as arguments in that order, and defaults for those that are absent. */
export function fieldsInOrder(
  fn: string,
  fields: Fields,
  order: readonly string[],
  defaults: Readonly<Record<string, BsonValue>>,
): ParseOperand {
  return (operand, { at, parse }) => {
    const given = namedFields(operand, at, fields);
    const args = order.map((name) => (given.has(name) ? parse(given.get(name)!) : literal(defaults[name])));
    return call(fn, args, at);
  };
}

/** A call with the names of the fields that are given as a literal, and their values after it. */
export function callWithNames(fn: string, given: BsonDocument, { at, parse }: OperandContext): Expr {
  return call(fn, [literal([...given.keys()]), ...[...given.values()].map((value) => parse(value))], at);
}

/** The arguments of such a call by name. */
export function argumentsByName([names, ...values]: readonly Evaluate[]): ReadonlyMap<Maybe, Evaluate> {
  const list = names === undefined ? undefined : constantOf(names)?.value;
  return new Map(Array.isArray(list) ? list.map((name, index) => [name, values[index]!]) : []);
}
