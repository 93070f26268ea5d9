/** For tests: evaluates one expression over one row. */

import type { Maybe } from '../bson/value.ts';
import { QueryError } from '../query-error.ts';
import { doc, runMql } from './run.ts';

/** Undefined if the value is missing. */
export async function evaluate(expression: unknown, row: object = {}): Promise<Maybe> {
  const [result] = await runMql([doc(row)], [{ $project: { _id: 0, r: expression } }]);
  return result?.get('r');
}

/** The code of the error that an expression throws; undefined if it has a value. */
export async function codeOf(expression: unknown, row: object = {}): Promise<number | undefined> {
  try {
    await evaluate(expression, row);
    return undefined;
  } catch (error) {
    if (error instanceof QueryError) return error.code;
    throw error;
  }
}
