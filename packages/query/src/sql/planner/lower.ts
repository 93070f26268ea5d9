/** SQL expressions become expressions of the plan, with what is known about their types. */

import type { TypeName } from '../../bson/type.ts';
import { Int32 } from '../../bson/value.ts';
import { functions } from '../../functions/registry.ts';
import { isTimeColumn } from '../../plan/columns.ts';
import { call, type Expr, literal } from '../../plan/expr.ts';
import type { SqlAggregate, SqlNode, SqlSubquery } from '../parser/ast.ts';
import { fault } from '../parser/cursor.ts';
import { itemsHint, literalText } from '../parser/dialect-hints.ts';
import type { Token } from '../parser/lex.ts';
import { literalOf } from '../types/extended-json.ts';
import { foldCast } from '../types/fold.ts';
import {
  anything,
  documentKind,
  excludes,
  incomparable,
  isArray,
  isWhole,
  type Kind,
  kindOf,
  kindOfValue,
  kindText,
  numbers,
  unfit,
  wholeNumbers,
} from '../types/kind.ts';
import { fieldsOf, type Typed } from './scope.ts';

/** What the names, aggregates and subqueries of an expression mean in its position. */
export interface Meaning {
  column(path: readonly string[], at: Token): Typed;
  aggregate(node: SqlAggregate): Typed;
  subquery(node: SqlSubquery): Typed;
  /** A whole expression with its own meaning, such as a group key. */
  whole?(node: SqlNode): Typed | undefined;
}

export function site(at: Token): string {
  return `line ${at.line}, column ${at.column}`;
}

export function lower(node: SqlNode, meaning: Meaning): Typed {
  const whole = meaning.whole?.(node);
  if (whole !== undefined) return whole;
  switch (node.k) {
    case 'literal':
      return { expr: literal(node.value), kind: kindOfValue(node.value) };
    case 'column':
      return meaning.column(node.path, node.at);
    case 'access':
      return fieldsOf(lower(node.of, meaning), [node.name], node.at);
    case 'aggregate':
      return meaning.aggregate(node);
    case 'subquery':
      return meaning.subquery(node);
    case 'assert':
      return asserted(node, lower(node.of, meaning));
    case 'document': {
      const fields = node.fields.map(([name, value]) => [name, lower(value, meaning)] as const);
      return {
        expr: { k: 'doc', fields: fields.map(([name, value]) => [name, value.expr]) },
        kind: documentKind(fields.map(([name, value]) => [name, value.kind])),
      };
    }
    case 'call':
      return lowerCall(
        node,
        node.args.map((arg) => lower(arg, meaning)),
      );
  }
}

/** A `::!` assertion adds to what is known; it must not contradict it. */
function asserted({ type, at }: SqlNode & { k: 'assert' }, given: Typed): Typed {
  const name = type as TypeName;
  const value = name === 'string' ? given : (literalOf(given, (each) => each.has(name)) ?? given);
  if (excludes(value.kind, [name])) {
    throw fault(at, `${kindText(value.kind)} is never ${name}`, 'write CAST(… AS …) to use a different type');
  }
  const types: ReadonlySet<TypeName> = new Set([name, 'null', 'missing']);
  return { ...value, kind: value.kind.types === undefined ? { types, open: true } : { ...value.kind, types } };
}

export function lowerCall(node: { readonly fn: string; readonly at: Token }, given: readonly Typed[]): Typed {
  const { fn, at } = node;
  if (fn === 'now') return { expr: { k: 'var', name: 'NOW', path: [] }, kind: kindOf('date', 'null') };
  const [of, name] = given;
  if (fn === 'agg.arrayElemAt' && of !== undefined && isName(name))
    return lowerCall({ fn: 'sql.field', at }, [of, name]);
  const args = given.map((arg, index) => truthOf(fn, converted(fn, arg, index, given), index, given));
  for (const [index, arg] of args.entries()) check(fn, arg, index, args.length, at);
  if (functions.get(fn)?.sql?.compares === true) for (const other of args.slice(1)) compare(args[0]!, other, at);
  const exprs = args.map(({ expr }) => expr);
  const kind = gives(
    fn,
    args.map((arg) => arg.kind),
  );
  const expr = foldCast(simplified(fn, exprs, at));
  // Whole numbers divide to a whole one; if one may be a long, the result is a long, whatever the values.
  if (fn === 'sql.divide' && isWhole(kind)) {
    const whole = call('sql.divideWhole', exprs, site(at));
    return { expr: kind.types?.has('long') === true ? call('sql.castLong', [whole], site(at)) : whole, kind };
  }
  return { expr, kind };
}

/** @param count number of arguments. */
function takes(fn: string, index: number, count: number): readonly TypeName[] | undefined {
  const types = functions.get(fn)?.sql?.takes;
  return typeof types === 'function' ? types(index, count) : types?.[Math.min(index, types.length - 1)];
}

function gives(fn: string, args: readonly Kind[]): Kind {
  const kind = functions.get(fn)?.sql?.gives ?? anything;
  return typeof kind === 'function' ? kind(args) : kind;
}

const negations: Readonly<Record<string, string>> = {
  ...{
    'sql.eq': 'sql.ne',
    'sql.ne': 'sql.eq',
    'sql.gt': 'sql.lte',
    'sql.lte': 'sql.gt',
    'sql.lt': 'sql.gte',
    'sql.gte': 'sql.lt',
  },
};

function simplified(fn: string, args: readonly Expr[], at: Token): Expr {
  const [first] = args;
  if (fn === 'sql.not' && first?.k === 'call') {
    const opposite = Object.hasOwn(negations, first.fn) ? negations[first.fn] : undefined;
    if (opposite !== undefined) return call(opposite, first.args, first.at);
  }
  if (fn === 'sql.nullIf') {
    const orNull = call('agg.ifNull', [first!, literal(null)], site(at));
    return call('sql.case', [call('sql.eq', args, site(at)), literal(null), orNull], site(at));
  }
  return call(fn, args, site(at));
}

/** If a string is impossible here, a text of Extended JSON represents its value. */
export function notText(value: Typed): Typed {
  return literalOf(value, (types) => excludes({ types }, ['string'])) ?? value;
}

function converted(fn: string, arg: Typed, index: number, all: readonly Typed[]): Typed {
  const wanted = takes(fn, index, all.length);
  if (wanted !== undefined && !wanted.includes('string')) return notText(arg);
  if (functions.get(fn)?.sql?.compares !== true) return arg;
  const others = index === 0 ? all.slice(1) : all.slice(0, 1);
  if (!others.every(({ kind }) => excludes(kind, ['string']))) return arg;
  return literalOf(arg, (types) => others.every(({ kind }) => !incomparable(kind, { types }))) ?? arg;
}

/** Whether the index is always a text, so that in brackets after a value it is a field name. */
function isName(index: Typed | undefined): index is Typed {
  return index !== undefined && index.kind.types?.has('string') === true && !unfit(index.kind, ['string']);
}

/** Compared with a boolean, 0 and 1 mean false and true. */
function truthOf(fn: string, arg: Typed, index: number, all: readonly Typed[]): Typed {
  if (fn === 'sql.and' || fn === 'sql.or') return asTruth(arg);
  const other = /^sql\.(eq|ne|gt|gte|lt|lte)$/.test(fn) ? all[1 - index] : undefined;
  const isTruth = other !== undefined && other.kind.types?.has('bool') === true && !unfit(other.kind, ['bool']);
  return isTruth ? asTruth(arg) : arg;
}

/** A literal 0 or 1 as false or true; anything else unchanged. */
export function asTruth(given: Typed): Typed {
  const { expr } = given;
  if (expr.k !== 'lit' || !(expr.value instanceof Int32) || (expr.value.value !== 0 && expr.value.value !== 1))
    return given;
  return { expr: literal(expr.value.value === 1), kind: kindOf('bool') };
}

function check(fn: string, arg: Typed, index: number, count: number, at: Token): void {
  const wanted = takes(fn, index, count);
  if (wanted === undefined || !unfit(arg.kind, wanted)) return;
  const expected = wanted === numbers ? 'a number' : wanted === wholeNumbers ? 'a whole number' : wanted.join(' or ');
  const hint = at.text === '[' ? "write a['b'] for a field, a[0] for an item" : dateHint(fn, arg);
  throw fault(
    at,
    `${at.text.toUpperCase()} takes ${expected}, found ${kindText(arg.kind)}`,
    hint ?? arrayHint(arg) ?? 'write CAST(… AS …) to use a different type',
  );
}

function dateHint(fn: string, { kind }: Typed): string | undefined {
  if (excludes(kind, ['date'])) return undefined;
  if (fn === 'agg.add') return 'write DATEADD(HOUR, 1, time_received)';
  return fn === 'agg.subtract'
    ? 'write DATEADD(HOUR, -1, time_received), or DATEDIFF(SECOND, earlier, later) of two times'
    : undefined;
}

/** A hint for a value that can only be an array. */
function arrayHint({ expr, kind }: Typed, other?: Expr): string | undefined {
  if (!isArray(kind)) return undefined;
  const value = other?.k === 'lit' && other.value !== undefined ? literalText(other.value) : '…';
  return itemsHint(expr.k === 'field' ? expr.path.at(-1) : undefined, value);
}

function compare(left: Typed, right: Typed, at: Token): void {
  if (!incomparable(left.kind, right.kind)) return;
  const time = [left, right].find(({ expr }) => expr.k === 'field' && isTimeColumn(expr.path.at(-1) ?? ''));
  const text = [left, right].find(({ expr }) => expr.k === 'lit' && typeof expr.value === 'string');
  if (time?.expr.k === 'field' && text?.expr.k === 'lit') {
    throw fault(
      at,
      `${time.expr.path.at(-1)} is a timestamp and is compared with a string`,
      `write CAST('${String(text.expr.value)}' AS TIMESTAMP)`,
    );
  }
  throw fault(
    at,
    `${kindText(left.kind)} cannot be compared with ${kindText(right.kind)}`,
    arrayHint(left, right.expr) ?? arrayHint(right, left.expr) ?? 'cast one of them',
  );
}
