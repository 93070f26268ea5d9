/** $replaceRoot and $replaceWith: replace a row by the document that an expression gives. */

import { describe } from '../../bson/describe.ts';
import { BsonDocument, type BsonValue } from '../../bson/value.ts';
import type { Stage } from '../../plan/stage.ts';
import { QueryError } from '../../query-error.ts';
import { parseExpression } from '../expression.ts';

export function parseReplace(spec: BsonValue, stage: string): Stage {
  if (stage === '$replaceWith') return { k: 'replace', with: parseExpression(spec, '$replaceWith') };
  if (!(spec instanceof BsonDocument)) {
    throw new QueryError(40229, `$replaceRoot takes an object with the field newRoot, found ${describe(spec)}`);
  }
  for (const name of spec.keys()) {
    if (name !== 'newRoot') throw new QueryError(40415, `$replaceRoot has only the field newRoot, found '${name}'`);
  }
  const root = spec.get('newRoot');
  if (root === undefined) throw new QueryError(40414, '$replaceRoot needs the field newRoot');
  return { k: 'replace', with: parseExpression(root, '$replaceRoot.newRoot') };
}
