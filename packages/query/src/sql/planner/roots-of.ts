/** Which fields of the row an expression begins its paths with; undefined when it reads the row as a whole. */

import type { Expr } from '../../plan/expr.ts';

export function rootsOf(expr: Expr): ReadonlySet<string> | undefined {
  const roots = new Set<string>();
  return gather(expr, roots) ? roots : undefined;
}

function gather(expr: Expr, into: Set<string>): boolean {
  switch (expr.k) {
    case 'lit':
      return true;
    case 'field':
      if (expr.path.length > 0) into.add(expr.path[0]!);
      return expr.path.length > 0;
    case 'var':
      return expr.name !== 'ROOT';
    case 'call':
      return expr.args.every((arg) => gather(arg, into));
    case 'doc':
      return expr.fields.every(([, value]) => gather(value, into));
    case 'bind':
      return expr.fn !== 'match.elem' && [...expr.args, expr.body].every((each) => gather(each, into));
  }
}
