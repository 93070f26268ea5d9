/** A plan in which variables are replaced by their values. */

import type { Maybe } from '../../bson/value.ts';
import { call, type Expr, literal } from '../expr.ts';
import type { Plan } from '../stage.ts';

export type Values = ReadonlyMap<string, Maybe>;

/** Plans are plain data without classes, apart from the values of literals, which stay as they are. */
export function substituteVariables(plan: Plan, values: Values): Plan {
  return replaced(plan, values) as Plan;
}

function replaced(node: unknown, values: Values): unknown {
  if (typeof node !== 'object' || node === null) return node;
  if (Array.isArray(node)) return node.map((item) => replaced(item, values));
  if ('k' in node) {
    if (node.k === 'lit') return node;
    if (node.k === 'var') {
      const { name, path } = node as Expr & { k: 'var' };
      return values.has(name) ? below(literal(values.get(name)), path) : node;
    }
  }
  return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, replaced(value, values)]));
}

function below(value: Expr, path: readonly string[]): Expr {
  return path.reduce((above, name) => call('sql.field', [above, literal(name)], name), value);
}
