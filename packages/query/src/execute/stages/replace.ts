/** Replaces a row by the document that an expression gives. */

import { typeName } from '../../bson/type.ts';
import { BsonDocument } from '../../bson/value.ts';
import type { ReplaceStage } from '../../plan/stage.ts';
import { QueryError } from '../../query-error.ts';
import { compileExpression } from '../expressions/expression.ts';
import type { Frame } from '../expressions/scope.ts';

export function compileReplace(stage: ReplaceStage): (frame: Frame) => BsonDocument {
  const evaluate = compileExpression(stage.with);
  return (frame) => {
    const value = evaluate(frame);
    if (value instanceof BsonDocument) return value;
    throw new QueryError(40228, `the new root must be an object, found ${typeName(value)}`, {
      hint: 'use $mergeObjects or $ifNull where the value may be missing',
    });
  };
}
