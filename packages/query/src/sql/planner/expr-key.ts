/** A text that is equal for expressions with the same meaning, wherever they occur in the statement. */

import { valueKey } from '../../bson/key.ts';
import { typeName } from '../../bson/type.ts';
import type { Expr } from '../../plan/expr.ts';

export function exprKey(expr: Expr): string {
  switch (expr.k) {
    case 'lit':
      return `l${typeName(expr.value)}${valueKey(expr.value)}`;
    case 'field':
      return `f${JSON.stringify(expr.path)}`;
    case 'var':
      return `v${JSON.stringify([expr.name, expr.path])}`;
    case 'call':
      return `${expr.fn}(${expr.args.map(exprKey).join()})`;
    case 'doc':
      return `{${expr.fields.map(([name, value]) => `${JSON.stringify(name)}:${exprKey(value)}`).join()}}`;
    case 'bind':
      return `${expr.fn}[${expr.vars.join()}](${expr.args.map(exprKey).join()};${exprKey(expr.body)})`;
  }
}
