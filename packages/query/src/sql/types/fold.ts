/** Casts of literals to times are computed when the statement is parsed, so that the times can limit what is read. */

import { BsonDate } from '../../bson/value.ts';
import { parseDate } from '../../functions/dates/date-text.ts';
import { type Expr, literal } from '../../plan/expr.ts';

export function foldCast(expr: Expr): Expr {
  if (expr.k !== 'call' || expr.fn !== 'sql.castTimestamp') return expr;
  const [arg] = expr.args;
  if (arg?.k !== 'lit' || typeof arg.value !== 'string') return expr;
  const ms = parseDate(arg.value);
  return literal(ms === undefined ? null : new BsonDate(ms));
}
