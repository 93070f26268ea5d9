/**
 * Expressions of the intermediate form: plain data that can cross processes. The function's name determines the rules: `agg.gt` compares
 * any two values, `match.gt` follows the array and type rules of query operators, `sql.gt` is three-valued.
 */
import type { BsonValue } from '../bson/value.ts';

/** Field names from the outside in; empty means the whole document. */
export type Path = readonly string[];

/** The position in the user's query, for runtime errors, e.g. `$project.total.$add`. */
export type Site = string;

export type Expr =
  | { readonly k: 'lit'; readonly value: BsonValue | undefined }
  | { readonly k: 'field'; readonly path: Path }
  | { readonly k: 'var'; readonly name: string; readonly path: Path }
  | { readonly k: 'call'; readonly fn: string; readonly args: readonly Expr[]; readonly at: Site }
  | { readonly k: 'doc'; readonly fields: readonly (readonly [string, Expr])[] }
  /** In `match.elem` the fields of the body belong to the array element; in the others `vars` are bound in turn. */
  | {
      readonly k: 'bind';
      readonly fn: string;
      readonly vars: readonly string[];
      readonly args: readonly Expr[];
      readonly body: Expr;
      readonly at: Site;
    };

export function literal(value: BsonValue | undefined): Expr {
  return { k: 'lit', value };
}

export function field(...path: string[]): Expr {
  return { k: 'field', path };
}

export function call(fn: string, args: readonly Expr[], at: Site): Expr {
  return { k: 'call', fn, args, at };
}

/** The direct subexpressions of an expression. */
export function partsOf(expr: Expr): readonly Expr[] {
  if (expr.k === 'call') return expr.args;
  if (expr.k === 'doc') return expr.fields.map(([, value]) => value);
  return expr.k === 'bind' ? [...expr.args, expr.body] : [];
}

/** What $geoNear finds for a row is kept with the row, outside its fields. A name that no pipeline can give to a variable. */
export const nearVariable = 'NEAR';

/** The distance in the unit of the query, or the row's place that was measured. */
export function near(part: 'distance' | 'point'): Expr {
  return { k: 'var', name: nearVariable, path: [part] };
}
