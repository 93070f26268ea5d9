/**
 * Filter conditions as SQL over one file's columns. The SQL is true at least for the rows that the executor keeps (a superset), and for no
 * others if it is `exact`. NULL counts as false throughout, so only NOT needs care.
 */
import { type BsonValue, type Expr, type Maybe, Regex, typeNumbers } from '@platform/query';
import type { FileFacts } from '../../files/file-facts.ts';
import { seriesFilter } from '../../query/series-filter.ts';
import { isOfSeries, type SeriesValues } from '../series/series-values.ts';
import { type Comparison, type Condition, comparison, either, type Family, never, unknown } from './compare.ts';
import { type Alternative, type Operand, operandOf } from './operand.ts';
import { referencedFields } from './referenced-fields.ts';
import { and, type Binds, no, not, or, type Sql } from './sql.ts';

export interface ConditionContext {
  readonly facts: FileFacts;
  readonly values: SeriesValues;
  readonly binds: Binds;
}

export function conditionOf(expr: Expr, context: ConditionContext): Condition {
  if (isOfSeries(expr)) return seriesCondition(expr, context);
  if (expr.k === 'field') return truthOf(expr, context);
  if (expr.k === 'bind') return expr.fn === 'match.elem' ? ofKinds(expr.args[0], ['array'], context, false) : unknown;
  if (expr.k !== 'call') return unknown;
  const [family, name = ''] = expr.fn.split('.');
  if (family !== 'match' && family !== 'agg' && family !== 'sql') return unknown;
  const each = (): Condition[] => expr.args.map((arg) => conditionOf(arg, context));
  switch (name) {
    case 'expr':
      return family === 'match' ? conditionOf(expr.args[0] as Expr, context) : unknown;
    case 'and':
      return all(each());
    case 'or':
      return either(each());
    case 'nor':
      return family === 'match' ? negated(either(each())) : unknown;
    case 'not':
      return family === 'agg' ? negated(conditionOf(expr.args[0] as Expr, context)) : unknown;
    case 'eq':
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      return compared(family, name, expr.args, context);
    case 'ne':
      return notEqual(family, expr.args, context);
    case 'in':
      return membership(family, expr.args, context);
    default:
      return family === 'match'
        ? matched(name, expr.args, context)
        : family === 'sql'
          ? ofNull(name, expr.args, context)
          : unknown;
  }
}

function all(terms: readonly Condition[]): Condition {
  if (terms.some((term) => term.sql === no)) return never;
  return { sql: and(terms.map((term) => term.sql)), exact: terms.every((term) => term.exact) };
}

/** The negation of a superset is unknown. */
function negated(inner: Condition): Condition {
  return inner.exact ? { sql: not(inner.sql), exact: true } : unknown;
}

function seriesCondition(expr: Expr, { values, facts }: ConditionContext): Condition {
  const keeps = values.keeps(expr);
  if (keeps === undefined) return unknown;
  const kept = [...keeps.keys()].filter((number) => keeps[number]);
  return { sql: inSeries(kept, facts.series.length), exact: true };
}

/** Rows of these series, out of `of` series. */
export function inSeries(numbers: readonly number[], of: number): Sql {
  if (numbers.length === of) return 'TRUE';
  if (numbers.length === 0) return no;
  return seriesFilter(numbers);
}

/** The truth value of a field used as a condition. */
function truthOf(expr: Expr, { facts }: ConditionContext): Condition {
  const operand = operandOf(expr, facts);
  if (operand === undefined) return unknown;
  return either(
    operand.alternatives.map(({ kind, is, value }): Condition => {
      if (kind === 'missing' || kind === 'null') return never;
      if (kind === 'double') return { sql: `${value} <> 0`, exact: !operand.negativeZero };
      return kind === 'bool' ? { sql: `(${value} IS NOT NULL AND ${value})`, exact: true } : { sql: is, exact: true };
    }),
  );
}

const mirrored: Readonly<Record<Comparison, Comparison>> = { eq: 'eq', gt: 'lt', gte: 'lte', lt: 'gt', lte: 'gte' };

function compared(family: Family, op: Comparison, args: readonly Expr[], context: ConditionContext): Condition {
  const [left, right] = args;
  if (left === undefined || right === undefined || args.length !== 2) return unknown;
  const [ofRight, ofLeft] = [literalOf(right, context), literalOf(left, context)];
  if (typeof ofRight !== 'symbol') return withLiteral(family, op, left, ofRight, context);
  if (typeof ofLeft !== 'symbol') return withLiteral(family, mirrored[op], right, ofLeft, context);
  return betweenNumbers(op, left, right, context);
}

function withLiteral(
  family: Family,
  op: Comparison,
  subject: Expr,
  literal: Maybe,
  context: ConditionContext,
): Condition {
  const operand = operandOf(subject, context.facts);
  return (operand && comparison(family, op, operand, literal, context.binds)) ?? unknown;
}

/** Compares two fields that are doubles in every row. */
function betweenNumbers(op: Comparison, left: Expr, right: Expr, { facts }: ConditionContext): Condition {
  const columns = [left, right].map((side) => {
    const operand = operandOf(side, facts);
    const [only] = operand?.alternatives ?? [];
    return operand?.alternatives.length === 1 && only?.kind === 'double' && !operand.nonFinite ? only.value : undefined;
  });
  if (columns[0] === undefined || columns[1] === undefined) return unknown;
  const sign = { eq: '=', gt: '>', gte: '>=', lt: '<', lte: '<=' }[op];
  return { sql: `${columns[0]} ${sign} ${columns[1]}`, exact: true };
}

function notEqual(family: Family, args: readonly Expr[], context: ConditionContext): Condition {
  const [left, right] = args;
  if (left === undefined || right === undefined) return unknown;
  const equal = compared(family, 'eq', args, context);
  if (family !== 'sql') return negated(equal);
  const [ofRight, ofLeft] = [literalOf(right, context), literalOf(left, context)];
  const [subject, literal] = ofRight === notLiteral ? [right, ofLeft] : [left, ofRight];
  if (literal === notLiteral || !equal.exact) return unknown;
  if (literal === null || literal === undefined) return never;
  const known = ofKinds(subject, ['missing', 'null'], context);
  return all([negated(known), negated(equal)]);
}

/** The list of a query operator or expression is a literal array; in SQL it consists of the other arguments. */
function membership(family: Family, args: readonly Expr[], context: ConditionContext): Condition {
  const [subject, list] = args;
  if (subject === undefined || list === undefined) return unknown;
  const literals = family === 'sql' ? args.slice(1).map((arg) => literalOf(arg, context)) : listOf(list, context);
  if (literals === undefined || literals.length > maxListed) return unknown;
  const operand = operandOf(subject, context.facts);
  if (operand === undefined) return unknown;
  const terms: Condition[] = [];
  for (const literal of literals) {
    if (literal === notLiteral) return unknown;
    if (family === 'sql' && (literal === null || literal === undefined)) continue;
    if (family === 'match' && literal instanceof Regex) terms.push(strings(operand));
    else terms.push(comparison(family, 'eq', operand, literal, context.binds) ?? unknown);
  }
  return either(terms);
}

const maxListed = 1_000;
const notLiteral: unique symbol = Symbol('not a literal');

/** Constants such as `{$toDate: '2026-05-17'}` count too. */
function literalOf(expr: Expr, { values }: ConditionContext): Maybe | typeof notLiteral {
  if (expr.k === 'lit') return expr.value;
  if (expr.k !== 'call' || referencedFields(expr)?.length !== 0 || !isOfSeries(expr)) return notLiteral;
  const found = values.values(expr);
  return found === undefined ? notLiteral : found[0];
}

function listOf(expr: Expr, context: ConditionContext): readonly (Maybe | typeof notLiteral)[] | undefined {
  if (expr.k === 'lit') return Array.isArray(expr.value) ? expr.value : undefined;
  return expr.k === 'call' && expr.fn === 'agg.array' ? expr.args.map((arg) => literalOf(arg, context)) : undefined;
}

/** A pattern matches strings only; DuckDB's pattern syntax differs from ours. */
function strings(operand: Operand): Condition {
  return { sql: or(operand.alternatives.filter(isTextual).map(({ is }) => is)), exact: false };
}

function isTextual({ kind }: Alternative): boolean {
  return kind === 'string' || kind === 'array';
}

/** Query operators that only some kinds of values can match. */
function matched(name: string, args: readonly Expr[], context: ConditionContext): Condition {
  switch (name) {
    case 'exists':
      return negated(ofKinds(args[0], ['missing'], context));
    case 'regex':
      return ofKinds(args[0], ['string', 'array'], context, false);
    case 'mod':
    case 'bitsAllSet':
    case 'bitsAllClear':
    case 'bitsAnySet':
    case 'bitsAnyClear':
      return ofKinds(args[0], ['double', 'array'], context, false);
    case 'size':
      return ofKinds(args[0], ['array'], context, false);
    case 'type':
      return typed(args, context);
    default:
      return unknown;
  }
}

/** SQL's tests for null, which always return true or false. */
function ofNull(name: string, args: readonly Expr[], context: ConditionContext): Condition {
  if (name === 'isNull') return ofKinds(args[0], ['missing', 'null'], context);
  if (name === 'isMissing') return ofKinds(args[0], ['missing'], context);
  const [inner] = args;
  const isTest = inner?.k === 'call' && (inner.fn === 'sql.isNull' || inner.fn === 'sql.isMissing');
  return name === 'not' && isTest ? negated(conditionOf(inner, context)) : unknown;
}

function ofKinds(
  expr: Expr | undefined,
  kinds: readonly Alternative['kind'][],
  { facts }: ConditionContext,
  exact = true,
): Condition {
  const operand = expr && operandOf(expr, facts);
  if (operand === undefined) return unknown;
  const found = operand.alternatives.filter(({ kind }) => kinds.includes(kind));
  return found.length === 0 ? never : { sql: or(found.map(({ is }) => is)), exact };
}

/** For arrays, the types of the elements count too. */
function typed([subject, list]: readonly Expr[], context: ConditionContext): Condition {
  const types: readonly BsonValue[] = list?.k === 'lit' && Array.isArray(list.value) ? list.value : [];
  const operand = subject && operandOf(subject, context.facts);
  if (operand === undefined) return unknown;
  return either(
    operand.alternatives.map(({ kind, is }): Condition => {
      if (kind === 'array') return { sql: is, exact: false };
      const holds = types.some((type) =>
        type === 0 ? kind === 'double' : kind !== 'missing' && type === typeNumbers[kind],
      );
      return holds ? { sql: is, exact: true } : never;
    }),
  );
}
