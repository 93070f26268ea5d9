/**
 * Whether evaluating a condition can end in an error. The executor stops at the first condition that does not hold. If a condition after
 * one that can fail removed rows earlier, the query would lose an error that it has without push-down.
 */

import { queryOperators } from '../execute/match/query-operators.ts';
import { functions } from '../functions/registry.ts';
import { type Expr, partsOf } from './expr.ts';

const connectives: ReadonlySet<string> = new Set(['match.and', 'match.or', 'match.nor', 'match.expr']);

/** Whether its value is true, false or null, as SQL's connectives require. */
export function isLogical(expr: Expr): boolean {
  const gives = expr.k === 'call' && expr.fn.startsWith('sql.') ? functions.get(expr.fn)?.sql?.gives : undefined;
  if (gives === undefined || typeof gives === 'function') return false;
  return gives.types !== undefined && [...gives.types].every((type) => type === 'bool' || type === 'null');
}

const maxDepth = 100;

export function canFail(expr: Expr, depth = 0): boolean {
  if (depth > maxDepth) return true;
  if (expr.k === 'bind' && expr.fn !== 'match.elem') return true;
  if (expr.k === 'call' && !neverFails(expr)) return true;
  return partsOf(expr).some((part) => canFail(part, depth + 1));
}

function neverFails({ fn, args }: Expr & { k: 'call' }): boolean {
  if (fn.startsWith('match.')) return connectives.has(fn) || queryOperators.get(fn)?.neverFails === true;
  const facts = functions.get(fn)?.neverFails;
  if (facts === 'of conditions') return args.every(isLogical);
  return typeof facts === 'function' ? facts(args) : facts === true;
}
