/** A comparison of a field with a literal, as SQL: exact if possible, otherwise true for more rows than the executor keeps. */
import {
  type BsonDate,
  BsonSymbol,
  type BsonValue,
  compareValues,
  comparisons,
  isNan,
  isNumeric,
  MaxKey,
  type Maybe,
  MinKey,
  type Numeric,
  toDouble,
  typeRank,
} from '@platform/query';
import type { Alternative, Operand, OperandKind } from './operand.ts';
import { and, type Binds, no, or, type Sql, yes } from './sql.ts';

export type Comparison = 'eq' | 'gt' | 'gte' | 'lt' | 'lte';

/**
 * Query operators compare values of one kind only; expressions compare any values, in the order of types; SQL comparisons with null are
 * null.
 */
export type Family = 'match' | 'agg' | 'sql';

export interface Condition {
  readonly sql: Sql;
  /** Whether it is true only for rows that the executor keeps. */
  readonly exact: boolean;
}

export const always: Condition = { sql: yes, exact: true };
export const never: Condition = { sql: no, exact: true };
/** Keeps every row; the executor decides. */
export const unknown: Condition = { sql: yes, exact: false };

export function either(terms: readonly Condition[]): Condition {
  // One exact term that is always true makes the whole disjunction exact, whatever the other terms are.
  if (terms.some((term) => term.exact && term.sql === yes)) return always;
  return { sql: or(terms.map((term) => term.sql)), exact: terms.every((term) => term.exact) };
}

/** Undefined for literals that SQL cannot compare at all. */
export function comparison(
  family: Family,
  op: Comparison,
  operand: Operand,
  literal: Maybe,
  binds: Binds,
): Condition | undefined {
  if (literal === undefined || literal instanceof BsonSymbol || (isNumeric(literal) && isNan(literal)))
    return undefined;
  if (typeof literal === 'string' && !isPlainText(literal)) return undefined;
  if (family === 'sql' && literal === null) return never;
  return either(operand.alternatives.map((each) => outcome(family, op, operand, each, literal, binds)));
}

const ranks: Readonly<Record<OperandKind, number>> = {
  missing: typeRank(undefined),
  null: typeRank(null),
  double: typeRank(0),
  string: typeRank(''),
  object: 20,
  array: 25,
  bool: typeRank(true),
  date: 45,
};

function outcome(
  family: Family,
  op: Comparison,
  operand: Operand,
  each: Alternative,
  literal: BsonValue,
  binds: Binds,
): Condition {
  const exactly = (sql: Sql): Condition => ({ sql, exact: true });
  const isNull = each.kind === 'null' || each.kind === 'missing';
  if (family === 'sql' && isNull) return never;
  if (family === 'match') {
    // Query operators also test the elements of arrays.
    if (each.kind === 'array') return { sql: each.is, exact: false };
    if (literal === null) return isNull && op !== 'gt' && op !== 'lt' ? exactly(each.is) : never;
    if (literal instanceof MinKey || literal instanceof MaxKey) {
      if (op === 'eq') return never;
      return each.kind === 'missing'
        ? { sql: each.is, exact: false }
        : literal instanceof MinKey === (op === 'gt' || op === 'gte')
          ? exactly(each.is)
          : never;
    }
  }
  const rank = ranks[each.kind] - typeRank(literal);
  if (rank !== 0) return family !== 'match' && comparisons[op](rank) ? exactly(each.is) : never;
  if (each.kind === 'missing' || each.kind === 'null') return comparisons[op](0) ? exactly(each.is) : never;
  if (each.value === undefined) return { sql: each.is, exact: false };
  switch (each.kind) {
    case 'double':
      return exactly(numbers(family, op, each.value, operand, literal, binds));
    case 'string':
      return exactly(`${each.value} ${signs[op]} ${binds.of({ type: 'text', value: literal as string })}`);
    case 'bool':
      return exactly(bools(op, each.value, literal as boolean));
    case 'date':
      return instants(op, each, each.value, (literal as BsonDate).ms, binds);
    default:
      return { sql: each.is, exact: false };
  }
}

const signs: Readonly<Record<Comparison, string>> = { eq: '=', gt: '>', gte: '>=', lt: '<', lte: '<=' };

function numbers(
  family: Family,
  op: Comparison,
  column: string,
  { nonFinite, negativeZero }: Operand,
  literal: BsonValue,
  binds: Binds,
): Sql {
  const nearest = toDouble(literal as Numeric);
  const order = compareValues(nearest, literal);
  if (op === 'eq') {
    if (order !== 0) return no;
    // A Bloom filter distinguishes the bytes of -0 and 0.
    if (nearest === 0 && negativeZero) return `abs(${column}) = 0`;
    return `${column} = ${binds.of({ type: 'double', value: nearest + 0 })}`;
  }
  // A number that is not a double is replaced by the nearest double, which is included if it lies on the right side.
  const upwards = op === 'gt' || op === 'gte';
  const included = order === 0 ? op === 'gte' || op === 'lte' : upwards === order > 0;
  const sign = `${upwards ? '>' : '<'}${included ? '=' : ''}`;
  const sql = `${column} ${sign} ${binds.of({ type: 'double', value: nearest + 0 })}`;
  if (!nonFinite) return sql;
  // DuckDB's NaN is the greatest value; ours is below all numbers, and no query operator matches it.
  if (upwards) return `(${sql} AND NOT isnan(${column}))`;
  return family === 'match' ? sql : `(${sql} OR isnan(${column}))`;
}

function bools(op: Comparison, column: string, literal: boolean): Sql {
  const [ofFalse, ofTrue] = [comparisons[op](0 - Number(literal)), comparisons[op](1 - Number(literal))];
  if (ofFalse && ofTrue) return `${column} IS NOT NULL`;
  if (!ofFalse && !ofTrue) return no;
  return ofTrue ? `(${column} IS NOT NULL AND ${column})` : `(${column} IS NOT NULL AND NOT ${column})`;
}

/** Largest milliseconds whose microseconds still fit DuckDB's comparison. */
const maxMs = 2 ** 53;

/**
 * Stored times are whole microseconds; rows show whole milliseconds, rounded down. A condition that all times of the file meet is omitted.
 */
function instants(op: Comparison, { is, range }: Alternative, column: Sql, ms: number, binds: Binds): Condition {
  if (!Number.isInteger(ms) || Math.abs(ms) > maxMs) return { sql: is, exact: false };
  const from = op === 'gte' || op === 'eq' ? ms : op === 'gt' ? ms + 1 : undefined;
  const below = op === 'lt' ? ms : op === 'lte' || op === 'eq' ? ms + 1 : undefined;
  const terms: Sql[] = [];
  if (from !== undefined) {
    const value = BigInt(from) * 1_000n;
    if (range !== undefined && range.most < value) return never;
    if (range === undefined || range.least < value) terms.push(`${column} >= ${binds.of({ type: 'bigint', value })}`);
  }
  if (below !== undefined) {
    const value = BigInt(below) * 1_000n;
    if (range !== undefined && range.least >= value) return never;
    if (range === undefined || range.most >= value) terms.push(`${column} < ${binds.of({ type: 'bigint', value })}`);
  }
  return { sql: terms.length === 0 ? is : and(terms), exact: true };
}

/** Other text may not reach DuckDB unchanged. */
function isPlainText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0') && text.length <= maxTextLength;
}

const maxTextLength = 4_096;
