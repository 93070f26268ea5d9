/** The parts of a condition that must all hold; none for a bare value or variable, which restricts nothing. */

import type { Expr } from './expr.ts';

export function conjuncts(where: Expr): readonly Expr[] {
  if (where.k !== 'call') return where.k === 'bind' ? [where] : [];
  if (where.fn === 'match.expr') return conjuncts(where.args[0]!);
  return /^(match|agg|sql)\.and$/.test(where.fn) ? where.args.flatMap(conjuncts) : [where];
}
