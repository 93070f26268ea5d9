/**
 * Constants in the leading filters become literals, so that what bounds times and paths can be seen: `$dateSubtract` of `$$NOW`,
 * `$toDate` of a text. `$$NOW` becomes one everywhere, the same for all that runs the plan.
 */

import { BsonDate, type Maybe } from '../bson/value.ts';
import { constantOf } from '../execute/constant.ts';
import { compileExpression } from '../execute/expression.ts';
import { type Evaluate, newFrame } from '../execute/scope.ts';
import { QueryError } from '../query-error.ts';
import { type Expr, literal } from './expr.ts';
import type { Plan, Stage } from './stage.ts';
import { withValues } from './with-values.ts';

/** @param nowMs start of the query, milliseconds since 1970 UTC. */
export function foldConstants(plan: Plan, nowMs: number): Plan {
  const dated = withValues(plan, new Map([['NOW', new BsonDate(nowMs)]]));
  const end = dated.stages.findIndex((stage) => stage.k !== 'filter');
  const folded = (stage: Stage, index: number): Stage =>
    stage.k === 'filter' && (end < 0 || index < end) ? { ...stage, where: foldedExpr(stage.where) } : stage;
  return { ...dated, stages: dated.stages.map(folded) };
}

function foldedExpr(expr: Expr): Expr {
  if (expr.k !== 'call') return expr;
  // Query operators take literals already.
  if (expr.fn.startsWith('match.') && !/^match\.(and|or|nor|expr)$/.test(expr.fn)) return expr;
  const call = { ...expr, args: expr.args.map(foldedExpr) };
  if (expr.fn.startsWith('match.') || call.args.some((arg) => arg.k !== 'lit')) return call;
  try {
    const evaluate = compileExpression(call);
    const constant = constantOf(evaluate) ?? scalar(call, evaluate);
    return constant === undefined ? call : literal(constant.value);
  } catch (error) {
    // Refused when the filter is compiled, with its place in the query, or in a row that comes to it.
    if (error instanceof QueryError) return call;
    throw error;
  }
}

/** SQL's functions are not folded when they are compiled; of small values, they are here. */
function scalar({ fn }: Expr & { k: 'call' }, evaluate: Evaluate): { readonly value: Maybe } | undefined {
  if (!fn.startsWith('sql.')) return undefined;
  const value = evaluate(newFrame(0));
  return value instanceof BsonDate || typeof value !== 'object' ? { value } : undefined;
}
