/** Evaluates one expression over single documents, for backends that compute results shared by many rows. */

import type { BsonDocument, Maybe } from '../../bson/value.ts';
import type { Expr } from '../../plan/expr.ts';
import { compileExpression } from './expression.ts';
import { enterRow, newFrame } from './scope.ts';
import { isTruthy } from './truth.ts';

export interface Evaluator {
  /** @throws QueryError */
  readonly value: (document: BsonDocument) => Maybe;
  /** Whether a filter keeps the row. @throws QueryError */
  readonly keeps: (document: BsonDocument) => boolean;
}

/** Only for expressions that do not use the current time, because there is no query start. */
export function evaluator(expr: Expr): Evaluator {
  const frame = newFrame(0);
  const evaluate = compileExpression(expr);
  const value = (document: BsonDocument): Maybe => {
    enterRow(frame, document);
    return evaluate(frame);
  };
  return { value, keeps: (document) => isTruthy(value(document)) };
}
