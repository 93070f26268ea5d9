/**
 * Whether evaluating a condition can end in an error. The executor stops at the first condition that does not hold: one behind a
 * condition that can fail must not take rows away before it, or an error that the query has without push-down would be lost.
 */
import type { Expr } from '@platform/query';

const total: ReadonlySet<string> = new Set(
  `match.and match.or match.nor match.expr match.eq match.gt match.gte match.lt match.lte match.in match.exists match.type match.regex
   match.size match.mod match.bitsAllSet match.bitsAllClear match.bitsAnySet match.bitsAnyClear
   agg.and agg.or agg.not agg.eq agg.ne agg.gt agg.gte agg.lt agg.lte agg.cmp agg.ifNull agg.cond agg.isNumber agg.type agg.array
   sql.eq sql.ne sql.gt sql.gte sql.lt sql.lte sql.in sql.isNull sql.isMissing sql.isType`.split(/\s+/),
);

/** Functions whose value is true, false or null, as the connectives of SQL want it. */
const logical: ReadonlySet<string> = new Set(
  'sql.and sql.or sql.not sql.eq sql.ne sql.gt sql.gte sql.lt sql.lte sql.in sql.isNull sql.isMissing sql.isType'.split(
    ' ',
  ),
);

export function isLogical(expr: Expr): boolean {
  return expr.k === 'call' && logical.has(expr.fn);
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
    case 'call': {
      if (expr.fn === 'agg.in') {
        const [subject, list] = expr.args;
        return subject === undefined || list?.k !== 'lit' || !Array.isArray(list.value) || canFail(subject, depth + 1);
      }
      if (expr.fn === 'sql.and' || expr.fn === 'sql.or' || expr.fn === 'sql.not')
        return !expr.args.every(isLogical) || anyOf(expr.args);
      return !total.has(expr.fn) || anyOf(expr.args);
    }
  }
}
