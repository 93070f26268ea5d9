/** The first field of each path in an expression; undefined if it reads the row as a whole. */

import { type Expr, partsOf } from '../../plan/expr.ts';

export function rootsOf(expr: Expr): ReadonlySet<string> | undefined {
  const roots = new Set<string>();
  return gather(expr, roots) ? roots : undefined;
}

function gather(expr: Expr, into: Set<string>): boolean {
  if (expr.k === 'field') {
    const [root] = expr.path;
    if (root !== undefined) into.add(root);
    return root !== undefined;
  }
  if (expr.k === 'var') return expr.name !== 'ROOT';
  if (expr.k === 'bind' && expr.fn === 'match.elem') return false;
  return partsOf(expr).every((part) => gather(part, into));
}
