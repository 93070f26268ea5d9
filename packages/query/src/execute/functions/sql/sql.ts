/**
 * Functions of SQL. Three-valued: null or missing in, null out, except where a rule of AND and OR decides already.
 * Comparisons follow the BSON order, as the reference dialect does.
 */

import { compareValues } from '../../../bson/compare.ts';
import { valueKey } from '../../../bson/key.ts';
import { isNullish, typeName } from '../../../bson/type.ts';
import { Int32, type Maybe } from '../../../bson/value.ts';
import { QueryError } from '../../../query-error.ts';
import { constantOf } from '../../expressions/constant.ts';
import { arithmetic } from '../numbers/arithmetic.ts';
import type { Eager, Lazy } from '../registry.ts';
import { sqlCast } from './sql-cast.ts';
import { sqlNumber } from './sql-number.ts';
import { sqlRows } from './sql-rows.ts';
import { sqlText } from './sql-text.ts';

export const sql: Readonly<Record<string, Eager>> = {
  ...sqlCast,
  ...sqlNumber,
  ...sqlRows,
  ...sqlText,
  'sql.eq': compared((order) => order === 0),
  'sql.ne': compared((order) => order !== 0),
  'sql.gt': compared((order) => order > 0),
  'sql.gte': compared((order) => order >= 0),
  'sql.lt': compared((order) => order < 0),
  'sql.lte': compared((order) => order <= 0),
  'sql.not': (value) => (isNullish(value) ? null : !truth(value)),
  'sql.isNull': (value) => value === null || value === undefined,
  'sql.isMissing': (value) => value === undefined,
  'sql.divide': (a, b) => (isZero(b) ? null : arithmetic['agg.divide']!(a, b)),
  'sql.divideWhole': divideWhole,
  'sql.mod': (a, b) => (isZero(b) ? null : arithmetic['agg.mod']!(a, b)),
  'sql.negate': (value) => arithmetic['agg.multiply']!(value, new Int32(-1)),
  'sql.isType': (value, ...types) => types.includes(typeName(value)),
  'sql.any': quantified(true),
  'sql.all': quantified(false),
};

export const sqlLazy: Readonly<Record<string, Lazy>> = {
  'sql.and': (args) => (frame) => {
    let known = true;
    for (const arg of args) {
      const value = arg(frame);
      if (isNullish(value)) known = false;
      else if (!truth(value)) return false;
    }
    return known ? true : null;
  },
  'sql.or': (args) => (frame) => {
    let known = true;
    for (const arg of args) {
      const value = arg(frame);
      if (isNullish(value)) known = false;
      else if (truth(value)) return true;
    }
    return known ? false : null;
  },
  /** Constants of the list are looked up by key, however many they are. */
  'sql.in': ([value, ...list]) => {
    const constants = list.flatMap((item) => constantOf(item) ?? []);
    const others = list.filter((item) => constantOf(item) === undefined);
    const keys = new Set(constants.map((item) => valueKey(item.value)));
    const hasNull = constants.some((item) => isNullish(item.value));
    return (frame) => {
      const sought = value!(frame);
      const items = others.map((item) => item(frame));
      if (isNullish(sought)) return null;
      if (keys.has(valueKey(sought)) || items.some((item) => !isNullish(item) && compareValues(sought, item) === 0))
        return true;
      return hasNull || items.some(isNullish) ? null : false;
    };
  },
  // Arguments in turn: when, then, when, then, …, else.
  'sql.case': (args) => (frame) => {
    for (let index = 0; index + 1 < args.length; index += 2) {
      if (args[index]!(frame) === true) return args[index + 1]!(frame);
    }
    return args.at(-1)!(frame);
  },
};

function fail(reason: string): never {
  throw new QueryError('TypeMismatch', reason);
}

function compared(holds: (order: number) => boolean): Eager {
  return (a, b) => (isNullish(a) || isNullish(b) ? null : holds(compareValues(a, b)));
}

function truth(value: Maybe): boolean {
  return typeof value === 'boolean' ? value : fail(`a condition must be true or false, found ${typeName(value)}`);
}

function isZero(value: Maybe): boolean {
  return !isNullish(value) && compareValues(value, 0) === 0;
}

/** Of whole numbers the whole part; null where the divisor is zero or the type cannot hold it. */
function divideWhole(a: Maybe, b: Maybe): Maybe {
  if (isNullish(a) || isNullish(b) || isZero(b)) return null;
  const whole = (value: Maybe): value is Int32 | bigint => value instanceof Int32 || typeof value === 'bigint';
  // What a statement only claims to be whole may be something else.
  if (!whole(a) || !whole(b)) return sqlCast['sql.castLong']!(arithmetic['agg.divide']!(a, b));
  const quotient = BigInt(a instanceof Int32 ? a.value : a) / BigInt(b instanceof Int32 ? b.value : b);
  const bits = a instanceof Int32 && b instanceof Int32 ? 32 : 64;
  if (BigInt.asIntN(bits, quotient) !== quotient) return null;
  return bits === 32 ? new Int32(Number(quotient)) : quotient;
}

/** `= ANY` and the like over the values of a subquery: known as soon as one value decides, else null if one was null. */
function quantified(any: boolean): Eager {
  return (left, values, op) => {
    const compare = sql[`sql.${String(op)}`]!;
    let known = true;
    for (const value of Array.isArray(values) ? values : []) {
      const result = compare(left, value);
      if (result === null) known = false;
      else if (result === any) return any;
    }
    return known ? !any : null;
  };
}
