/**
 * Whether evaluating a condition can end in an error. The executor stops at the first condition that does not hold: one behind a
 * condition that can fail must not take rows away before it, or an error that the query has without push-down would be lost.
 */

import { queryOperators } from '../execute/match/query-operators.ts';
import { functions } from '../functions/registry.ts';
import type { Expr } from './expr.ts';

const connectives: ReadonlySet<string> = new Set(['match.and', 'match.or', 'match.nor', 'match.expr']);

/** Its value is true, false or null, as the connectives of SQL want it. */
export function isLogical(expr: Expr): boolean {
  const gives = expr.k === 'call' && expr.fn.startsWith('sql.') ? functions.get(expr.fn)?.sql?.gives : undefined;
  if (gives === undefined || typeof gives === 'function') return false;
  return gives.types !== undefined && [...gives.types].every((type) => type === 'bool' || type === 'null');
}

const maxDepth = 100;

export function canFail(expr: Expr, depth = 0): boolean {
  if (depth > maxDepth) return true;
  const anyOf = (parts: readonly Expr[]): boolean => parts.some((part) => canFail(part, depth + 1));
  switch (expr.k) {
    case 'lit':
    case 'field':
    case 'var':
      return false;
    case 'doc':
      return anyOf(expr.fields.map(([, value]) => value));
    case 'bind':
      return expr.fn !== 'match.elem' || anyOf([...expr.args, expr.body]);
    case 'call':
      return !neverFails(expr) || anyOf(expr.args);
  }
}

function neverFails({ fn, args }: Expr & { k: 'call' }): boolean {
  if (fn.startsWith('match.')) return connectives.has(fn) || queryOperators.get(fn)?.neverFails === true;
  const facts = functions.get(fn)?.neverFails;
  if (facts === 'of conditions') return args.every(isLogical);
  return typeof facts === 'function' ? facts(args) : facts === true;
}
