/** Resolves names to fields: in the tables of a query, and in those of the queries around it. */

import { valueKey } from '../../bson/key.ts';
import { typeName } from '../../bson/type.ts';
import { call, type Expr, literal } from '../../plan/expr.ts';
import { fault } from '../parser/cursor.ts';
import { itemsHint, literalText } from '../parser/dialect-hints.ts';
import { nearest } from '../parser/keywords.ts';
import type { Token } from '../parser/lex.ts';
import { fieldOf, holds, isArray, type Kind, kindText } from '../types/kind.ts';

/** A table of FROM, in the layout of the plan's rows. */
export interface Source {
  readonly name: string;
  /** The table's row as a document. */
  readonly doc: Expr;
  readonly kind: Kind;
}

export interface Typed {
  readonly expr: Expr;
  readonly kind: Kind;
}

export interface Scope {
  readonly sources: readonly Source[];
  /** The query around a subquery; values of its rows reach the subquery as variables. */
  readonly outer?: { readonly scope: Scope; readonly captured: [name: string, value: Expr][] };
}

/** @throws QueryError if no table, or more than one, may have the name. */
export function resolve(path: readonly string[], at: Token, scope: Scope): Typed {
  const found = find(path, at, scope);
  if (found !== undefined) return found;
  const sources = levels(scope).flatMap((level) => level.sources);
  const columns = sources.flatMap(({ kind }) => [...(kind.fields?.keys() ?? [])]);
  const meant = nearest(path[0]!, [...columns, ...sources.map(({ name }) => name)]);
  const listed = columns.slice(0, 20).join(', ');
  const near = meant && meant !== path[0] ? `did you mean ${meant}?` : undefined;
  const all = listed === '' ? undefined : `the columns are ${listed}`;
  const text = path.length === 1 && at.quote === '"' ? textHint(path[0]!) : undefined;
  const hint = text === undefined || near === undefined ? (text ?? near ?? all) : `${text}, or ${near}`;
  throw fault(at, `unknown column ${path[0]}`, hint);
}

/** A hint, because other dialects write texts in double quotes. */
function textHint(name: string): string {
  return `double quotes are for names: write the string as ${literalText(name)}`;
}

export function find(path: readonly string[], at: Token, scope: Scope): Typed | undefined {
  const [first, ...rest] = path;
  if (rest.length > 0) {
    const qualified = findSource(first!, scope);
    if (qualified !== undefined) {
      const known = holds(qualified.kind, rest[0]!) !== 'cannot';
      if (known || holdersOf(first!, scope).length === 0) {
        if (known) return fieldsOf(qualified, rest, at);
        const fields = [...(qualified.kind.fields?.keys() ?? [])];
        const meant = nearest(rest[0]!, fields);
        throw fault(
          at,
          `${first} has no field ${rest[0]}`,
          meant ? `did you mean ${meant}?` : `its fields are ${fields.join(', ')}`,
        );
      }
    }
  }
  const holder = holderOf(first!, at, scope);
  if (holder !== undefined) return fieldsOf(holder, path, at);
  if (rest.length === 0) return findSource(first!, scope);
  // A table name may be preceded by its database.
  return rest.length > 1 && findSource(rest[0]!, scope) !== undefined ? find(rest, at, scope) : undefined;
}

/** The nearest table of this name, as a value of the innermost query. */
function findSource(name: string, scope: Scope): Typed | undefined {
  for (const [depth, level] of levels(scope).entries()) {
    const source = level.sources.find((each) => each.name === name);
    if (source !== undefined) return { expr: brought(source.doc, scope, depth), kind: source.kind };
  }
  return undefined;
}

interface Holder {
  readonly source: Source;
  readonly depth: number;
  readonly how: 'must' | 'may';
}

function holdersOf(name: string, scope: Scope): Holder[] {
  return levels(scope).flatMap(({ sources }, depth) =>
    sources.flatMap((source): Holder[] => {
      const how = holds(source.kind, name);
      return how === 'cannot' ? [] : [{ source, depth, how }];
    }),
  );
}

/** The only table that may have the field, or the nearest one that must. */
function holderOf(name: string, at: Token, scope: Scope): Typed | undefined {
  const holders = holdersOf(name, scope);
  const nearestDepth = holders[0]?.depth;
  const inNearest = holders.filter(({ depth }) => depth === nearestDepth);
  const sure = inNearest.length === 1 && inNearest[0]!.how === 'must';
  const holder = holders.length === 1 || sure ? holders[0] : undefined;
  if (holder !== undefined) return { expr: brought(holder.source.doc, scope, holder.depth), kind: holder.source.kind };
  if (holders.length === 0) return undefined;
  const names = holders.map(({ source }) => source.name).filter((each) => each !== '');
  throw fault(at, `the column ${name} is ambiguous: ${names.join(' and ')} may have it`, `write ${names[0]}.${name}`);
}

function levels(scope: Scope): Scope[] {
  const all: Scope[] = [];
  for (let level: Scope | undefined = scope; level !== undefined; level = level.outer?.scope) all.push(level);
  return all;
}

/** Passes a value of an outer query's row as a variable through all queries in between. */
function brought(expr: Expr, scope: Scope, depth: number): Expr {
  if (depth === 0 || expr.k === 'var') return expr;
  const around = levels(scope);
  const { captured } = around[depth - 1]!.outer!;
  const key = exprKey(expr);
  const known = captured.find(([, value]) => exprKey(value) === key);
  if (known !== undefined) return { k: 'var', name: known[0], path: [] };
  // Unique among the queries around this one; sibling queries may share names.
  const name = `outer${around.length - depth}_${captured.length}`;
  captured.push([name, expr]);
  return { k: 'var', name, path: [] };
}

export function fieldsOf(value: Typed, path: readonly string[], at: Token): Typed {
  let { expr, kind } = value;
  for (const name of path) {
    if (kind.types !== undefined && !kind.types.has('object')) {
      const hint = isArray(kind) ? itemsHint(expr.k === 'field' ? expr.path.at(-1) : undefined, '…') : undefined;
      throw fault(at, `${kindText(kind)} has no field ${name}`, hint ?? 'only documents have fields');
    }
    if (holds(kind, name) === 'cannot' && kind.types?.has('array') !== true) {
      const fields = [...(kind.fields?.keys() ?? [])];
      const meant = nearest(name, fields);
      const hint = meant === undefined ? `its fields are ${fields.slice(0, 20).join(', ')}` : `did you mean ${meant}?`;
      throw fault(at, `the document has no field ${name}`, fields.length === 0 ? undefined : hint);
    }
    expr = below(expr, name);
    kind = fieldOf(kind, name);
  }
  return { expr, kind };
}

function below(expr: Expr, name: string): Expr {
  if (expr.k === 'field' || expr.k === 'var') return { ...expr, path: [...expr.path, name] };
  if (expr.k === 'doc') return expr.fields.find(([each]) => each === name)?.[1] ?? literal(undefined);
  return call('sql.field', [expr, literal(name)], name);
}

/** A text that is equal for expressions with the same meaning, wherever they occur in the statement. */
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
