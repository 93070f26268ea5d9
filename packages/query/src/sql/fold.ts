/** Casts of literals are made when the statement is parsed: faulty ones are refused, and times can bound what is read. */

import { BsonDate, type BsonValue } from '../bson/value.ts';
import { parseDate } from '../execute/functions/date-text.ts';
import { type Expr, literal } from '../plan/expr.ts';
import { QueryError } from '../query-error.ts';

/** A text that cannot be cast to a timestamp. */
export function isNoTimestamp(value: BsonValue): boolean {
  return typeof value === 'string' && parseDate(value) === undefined;
}

export function foldCast(expr: Expr): Expr {
  if (expr.k !== 'call' || expr.fn !== 'sql.castTimestamp') return expr;
  const [arg] = expr.args;
  if (arg?.k !== 'lit' || typeof arg.value !== 'string') return expr;
  const ms = parseDate(arg.value);
  if (ms !== undefined) return literal(new BsonDate(ms));
  const [, line, column] = /line (\d+), column (\d+)/.exec(expr.at) ?? [];
  throw new QueryError('ConversionFailure', `'${arg.value.slice(0, 80)}' is not a timestamp`, {
    line: Number(line),
    column: Number(column),
    hint: "write it as ISO 8601, e.g. '2026-01-31T12:00:00Z'",
  });
}
