/** SQL conditions, which are three-valued: null or missing arguments give null, unless a rule of AND or OR already decides. */

import { compareValues, comparisons } from '../../bson/compare.ts';
import { valueKey } from '../../bson/key.ts';
import { isNullish, typeName } from '../../bson/type.ts';
import type { Maybe } from '../../bson/value.ts';
import { constantOf } from '../../execute/expressions/constant.ts';
import { QueryError } from '../../query-error.ts';
import { either, kindOf } from '../../sql/types/kind.ts';
import { boolType, comparing, logical, predicate } from '../../sql/types/signature.ts';
import { type Eager, eager, type FunctionDefinition, type Functions, lazy } from '../definition.ts';
import { branches } from '../logic.ts';

/** Gives true, false or null for any arguments. */
const condition = { size: 'bounded', neverFails: true, numberTypes: 'none' } as const;

/** Refuses values other than true, false and null. */
const connective: FunctionDefinition = {
  sql: logical,
  size: 'bounded',
  neverFails: 'of conditions',
  numberTypes: 'none',
};

/** Comparisons follow the BSON order, as the reference dialect does. */
const comparers: Readonly<Record<string, Eager>> = Object.fromEntries(
  Object.entries(comparisons).map(([name, holds]) => [name, compared(holds)]),
);

export const sqlConditions: Functions = {
  ...Object.fromEntries(
    Object.entries(comparers).map(([name, eager]) => [`sql.${name}`, { sql: comparing, ...condition, eager }]),
  ),
  'sql.any': eager({}, quantified(true)),
  'sql.all': eager({}, quantified(false)),
  'sql.isNull': eager({ sql: predicate, ...condition }, (value) => value === null || value === undefined),
  'sql.isMissing': eager({ sql: predicate, ...condition }, (value) => value === undefined),
  'sql.isType': eager({ sql: predicate, ...condition }, (value, ...types) => types.includes(typeName(value))),
  'sql.not': eager({ ...connective }, (value) => (isNullish(value) ? null : !truthOf(value))),
  'sql.and': lazy({ ...connective }, (args) => (frame) => {
    let known = true;
    for (const arg of args) {
      const value = arg(frame);
      if (isNullish(value)) known = false;
      else if (!truthOf(value)) return false;
    }
    return known ? true : null;
  }),
  'sql.or': lazy({ ...connective }, (args) => (frame) => {
    let known = true;
    for (const arg of args) {
      const value = arg(frame);
      if (isNullish(value)) known = false;
      else if (truthOf(value)) return true;
    }
    return known ? false : null;
  }),
  /** Constants in the list are looked up by key, however many there are. */
  'sql.in': lazy({ sql: comparing, ...condition }, ([value, ...list]) => {
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
  }),
  // Arguments in order: when, then, when, then, …, else.
  'sql.case': {
    sql: {
      takes: (index, count) => (index % 2 === 0 && index < count - 1 ? boolType : undefined),
      gives: (args) => branches(args).reduce(either),
    },
    size: 'bounded',
    numberTypes: branches,
    lazy: (args) => (frame) => {
      for (let index = 0; index + 1 < args.length; index += 2) {
        if (args[index]!(frame) === true) return args[index + 1]!(frame);
      }
      return args.at(-1)!(frame);
    },
  },
  // Rewritten as a CASE.
  'sql.nullIf': {
    sql: { names: [['NULLIF', 2, 2]], gives: ([value]) => either(value!, kindOf('null')), compares: true },
  },
};

function compared(holds: (order: number) => boolean): Eager {
  return (a, b) => (isNullish(a) || isNullish(b) ? null : holds(compareValues(a, b)));
}

function truthOf(value: Maybe): boolean {
  if (typeof value === 'boolean') return value;
  throw new QueryError('TypeMismatch', `a condition must be true or false, found ${typeName(value)}`);
}

/** `= ANY` and similar over the values of a subquery: known as soon as one value decides, otherwise null if one was null. */
function quantified(any: boolean): Eager {
  return (left, values, op) => {
    const compare = comparers[String(op)]!;
    let known = true;
    for (const value of Array.isArray(values) ? values : []) {
      const result = compare(left, value);
      if (result === null) known = false;
      else if (result === any) return any;
    }
    return known ? !any : null;
  };
}
