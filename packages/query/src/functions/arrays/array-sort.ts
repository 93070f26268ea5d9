/** $sortArray. Arguments: the array, then, for each key, its path (empty for the element itself) and 1 or -1. */

import { compareValues } from '../../bson/compare.ts';
import { decimalToNumber } from '../../bson/decimal.ts';
import { describe } from '../../bson/describe.ts';
import { isNullish, isNumeric, typeName } from '../../bson/type.ts';
import { BsonDocument, type BsonValue, Decimal128, Int32, type Maybe } from '../../bson/value.ts';
import { call, type Expr, literal } from '../../plan/expr.ts';
import { QueryError } from '../../query-error.ts';
import { eager, type Functions, type OperandContext } from '../definition.ts';
import { namedFields } from '../named-fields.ts';

interface Key {
  readonly path: readonly string[];
  readonly sign: number;
}

export const arraySort: Functions = {
  'agg.sortArray': eager({ mql: parseSortArray, size: 'grows' }, (input, ...spec) => {
    if (isNullish(input)) return null;
    if (!Array.isArray(input))
      throw new QueryError(2942504, `the input of $sortArray must be an array, but is of type: ${typeName(input)}`);
    const keys = keysOf(spec);
    return input.toSorted((left, right) => {
      for (const { path, sign } of keys) {
        const order = compareValues(keyOf(left, path), keyOf(right, path));
        if (order !== 0) return order * sign;
      }
      return 0;
    });
  }),
};

function keysOf(spec: readonly Maybe[]): readonly Key[] {
  const keys: Key[] = [];
  for (let index = 0; index + 1 < spec.length; index += 2) {
    const [path, sign] = [spec[index], spec[index + 1]];
    keys.push({
      path: typeof path === 'string' && path !== '' ? path.split('.') : [],
      sign: sign instanceof Int32 ? sign.value : 1,
    });
  }
  return keys;
}

/** A missing value sorts as null. Arrays on the path are entered by position only. */
function keyOf(item: BsonValue, path: readonly string[]): BsonValue {
  let current: Maybe = item;
  if (path.length > 0 && Array.isArray(item)) return null;
  for (const name of path) {
    if (current instanceof BsonDocument) current = current.get(name);
    else if (Array.isArray(current) && /^\d+$/.test(name)) current = current[Number(name)];
    else return null;
  }
  return current ?? null;
}

function parseSortArray(operand: BsonValue, { at, parse }: OperandContext): Expr {
  const parts = namedFields(operand, {
    required: { input: 2942502, sortBy: 2942503 },
    notObject: 2942500,
    unknown: 2942501,
  });
  const keys = sortKeys(parts.get('sortBy')!);
  return call('agg.sortArray', [parse(parts.get('input')!), ...keys], at);
}

/** The path and direction of each key; the path is empty for the element itself. */
function sortKeys(sortBy: BsonValue): Expr[] {
  if (isNumeric(sortBy)) {
    const sign = signOf(sortBy);
    if (sign === undefined) throw new QueryError(2942506, `sortBy must be 1 or -1, found ${describe(sortBy)}`);
    return [literal(''), literal(new Int32(sign))];
  }
  if (!(sortBy instanceof BsonDocument))
    throw new QueryError(2942507, `sortBy must be 1, -1 or an object of fields, found ${describe(sortBy)}`);
  if (sortBy.size === 0) throw new QueryError(2942505, 'the sort pattern must name at least one field');
  return [...sortBy].flatMap(([path, direction]) => {
    const sign = signOf(direction);
    if (sign === undefined)
      throw new QueryError(2942505, `the direction of '${path}' must be 1 or -1, found ${describe(direction)}`);
    if (path.split('.').includes(''))
      throw new QueryError(2942505, `a sort field must not have empty parts: '${path}'`);
    return [literal(path), literal(new Int32(sign))];
  });
}

function signOf(value: BsonValue): 1 | -1 | undefined {
  const number = value instanceof Int32 ? value.value : value instanceof Decimal128 ? decimalToNumber(value) : value;
  if (number === 1 || number === 1n) return 1;
  return number === -1 || number === -1n ? -1 : undefined;
}
