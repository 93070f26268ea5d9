/** Arguments that must not depend on the row are computed when the query is parsed. */

import { compileExpression } from '../../execute/expressions/expression.ts';
import { newFrame } from '../../execute/expressions/scope.ts';
import { functions } from '../../functions/registry.ts';
import type { Expr } from '../../plan/expr.ts';
import type { Constant } from '../../plan/window.ts';

/** @returns undefined if the expression reads a field or a variable. @throws QueryError of its operators. */
export function constantOf(expr: Expr): Constant | undefined {
  if (!isConstant(expr)) return undefined;
  return { k: 'lit', value: compileExpression(expr)(newFrame(0)) };
}

function isConstant(expr: Expr): boolean {
  switch (expr.k) {
    case 'lit':
      return true;
    case 'call':
      return functions.get(expr.fn)?.volatile !== true && expr.args.every(isConstant);
    case 'doc':
      return expr.fields.every(([, value]) => isConstant(value));
    default:
      return false;
  }
}
