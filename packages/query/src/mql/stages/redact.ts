/** $redact: an expression that decides over each document in a row. */

import type { BsonValue } from '../../bson/value.ts';
import { literal } from '../../plan/expr.ts';
import type { Stage } from '../../plan/stage.ts';
import { parseExpression } from '../expression.ts';

const decisions: readonly string[] = ['DESCEND', 'PRUNE', 'KEEP'];

export function parseRedact(spec: BsonValue): Stage {
  const body = parseExpression(spec, '$redact', decisions);
  const args = decisions.map((name) => literal(name.toLowerCase()));
  return { k: 'redact', decide: { k: 'bind', fn: 'let', vars: decisions, args, body, at: '$redact' } };
}
