/** The argument object of an operator with named parts. */

import { BsonDocument, type BsonValue } from '../../bson/value.ts';
import { QueryError } from '../../query-error.ts';
import { describe } from '../describe.ts';

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
export function namedParts(operand: BsonValue, at: string, fields: Fields): BsonDocument {
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
