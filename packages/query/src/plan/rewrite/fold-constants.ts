/**
 * Constants in the leading filters become literals, so that the bounds of times and paths are visible: `$dateSubtract` of `$$NOW`,
 * `$toDate` of a text. `$$NOW` becomes a literal everywhere, the same for everything that runs the plan.
 */

import { BsonDate, type Maybe } from '../../bson/value.ts';
import { constantOf } from '../../execute/expressions/constant.ts';
import { compileExpression } from '../../execute/expressions/expression.ts';
import { type Evaluate, newFrame } from '../../execute/expressions/scope.ts';
import { functions } from '../../functions/registry.ts';
import { QueryError, reading } from '../../query-error.ts';
import { type Expr, literal } from '../expr.ts';
import type { Plan, Stage } from '../stage.ts';
import { substituteVariables } from './substitute-variables.ts';

/** @param nowMs start of the query, milliseconds since 1970 UTC. @throws QueryError Overflow if the plan is nested too deeply. */
export function foldConstants(plan: Plan, nowMs: number): Plan {
  return reading(() => folded(plan, nowMs));
}

function folded(plan: Plan, nowMs: number): Plan {
  const dated = substituteVariables(plan, new Map([['NOW', new BsonDate(nowMs)]]));
  const end = dated.stages.findIndex((stage) => stage.k !== 'filter');
  const left = { calls: maxCalls };
  const inFilter = (stage: Stage, index: number): Stage =>
    stage.k === 'filter' && (end < 0 || index < end) ? { ...stage, where: foldedExpr(stage.where, left) } : stage;
  return { ...dated, stages: dated.stages.map(inFilter) };
}

/** Limited, because a query may be parsed where others wait. */
const maxCalls = 1000;

function foldedExpr(expr: Expr, left: { calls: number }): Expr {
  if (expr.k !== 'call') return expr;
  const isCondition = /^match\.(and|or|nor|expr)$/.test(expr.fn);
  // Other query operators already take literals.
  if (expr.fn.startsWith('match.') && !isCondition) return expr;
  const call = { ...expr, args: expr.args.map((arg) => foldedExpr(arg, left)) };
  const isEarly = functions.get(expr.fn)?.folding === 'early';
  if (isCondition || !isEarly || call.args.some((arg) => arg.k !== 'lit')) return call;
  if (--left.calls < 0) return call;
  try {
    const evaluate = compileExpression(call);
    const constant = constantOf(evaluate) ?? scalar(call, evaluate);
    return constant === undefined ? call : literal(constant.value);
  } catch (error) {
    // Refused when the filter is compiled, with its position in the query, or by a row that reaches it.
    if (error instanceof QueryError) return call;
    throw error;
  }
}

/** SQL functions are not folded at compile time; with small values they are folded here. */
function scalar({ fn }: Expr & { k: 'call' }, evaluate: Evaluate): { readonly value: Maybe } | undefined {
  if (!fn.startsWith('sql.')) return undefined;
  const value = evaluate(newFrame(0));
  return value instanceof BsonDate || typeof value !== 'object' ? { value } : undefined;
}
