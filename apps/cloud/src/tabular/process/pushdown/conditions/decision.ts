/** $cond, $switch, $bucket and CASE: values chosen by conditions that a file's columns may decide for each row. */
import { canFail, type Expr, isLogical } from '@platform/query';
import { isOfSeries } from '../series/series-values.ts';
import { type ConditionContext, conditionOf } from './condition.ts';
import { isSmall } from './expression-size.ts';
import type { Sql } from './sql.ts';

export interface Decision {
  readonly when: Expr;
  readonly then: Expr;
  readonly otherwise: Expr;
}

/** Maximum decisions in a stage: a statement repeats each condition for every value after it. */
export const maxDecisions = 32;
/** Maximum parts of one value including its conditions. */
const maxParts = 400;

const cache = new WeakMap<Expr, Decision | undefined>();

/**
 * The first decision of a value; later ones are in `otherwise`. Undefined if there is none, or if it has no value when no condition holds.
 */
export function decisionOf(expr: Expr): Decision | undefined {
  if (!cache.has(expr)) cache.set(expr, firstOf(expr));
  return cache.get(expr);
}

function firstOf(expr: Expr): Decision | undefined {
  if (!isSmall(expr, maxParts)) return undefined;
  if (expr.k === 'bind') {
    const inner = withFields(expr);
    return inner && decisionOf(inner);
  }
  if (expr.k !== 'call') return undefined;
  const { fn, args } = expr;
  if (fn !== 'agg.cond' && fn !== 'agg.switch' && fn !== 'sql.case') return undefined;
  const [when, then, ...rest] = args;
  if (args.length % 2 === 0) return undefined;
  const otherwise = rest.length === 1 ? rest[0] : { ...expr, args: rest };
  if (when === undefined || then === undefined || otherwise === undefined) return undefined;
  // CASE treats a value that is not a boolean as false, but a filter may treat it as true.
  return fn === 'sql.case' && !isLogical(when) ? undefined : { when, then, otherwise };
}

/** The body of a $let whose variables are fields, with the fields substituted. */
function withFields(expr: Expr & { k: 'bind' }): Expr | undefined {
  if (expr.fn !== 'let' || expr.args.some(({ k }) => k !== 'field')) return undefined;
  const put = (inner: Expr): Expr | undefined => {
    switch (inner.k) {
      case 'lit':
      case 'field':
        return inner;
      case 'var': {
        const at = expr.vars.indexOf(inner.name);
        if (at < 0) return inner;
        return inner.path.length === 0 ? expr.args[at] : undefined;
      }
      case 'call': {
        const args = inner.args.map(put);
        return args.includes(undefined) ? undefined : { ...inner, args: args as Expr[] };
      }
      default:
        return undefined;
    }
  };
  return put(expr.body);
}

/** SQL for exactly the rows where a condition holds; undefined when these are unknown. */
export function truthOf(when: Expr, context: ConditionContext): Sql | undefined {
  if (!isOfSeries(when) && canFail(when)) return undefined;
  const { sql, exact } = conditionOf(when, context);
  return exact ? sql : undefined;
}
