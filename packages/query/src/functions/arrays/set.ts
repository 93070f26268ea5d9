/** $setUnion, $setIntersection, $setDifference, $setEquals, $setIsSubset, $allElementsTrue, $anyElementTrue. */

import { valueKey } from '../../bson/key.ts';
import { isNullish, typeName } from '../../bson/type.ts';
import type { BsonValue, Maybe } from '../../bson/value.ts';
import { constantOf } from '../../execute/expressions/constant.ts';
import { isTruthy } from '../../execute/expressions/truth.ts';
import { QueryError } from '../../query-error.ts';
import { atLeast, eager, type Functions, lazy } from '../definition.ts';

export const set: Functions = {
  'agg.setUnion': eager({ mql: atLeast(0), size: 'grows' }, (...values) => {
    const all = new Map<string, BsonValue>();
    for (const value of values) {
      if (isNullish(value)) return null;
      for (const [key, item] of elements(value, '$setUnion', 17043)) if (!all.has(key)) all.set(key, item);
    }
    return [...all.values()];
  }),
  'agg.setDifference': eager({ mql: 2, size: 'grows' }, (left, right) => {
    if (isNullish(left) || isNullish(right)) return null;
    const from = elements(left, '$setDifference', 17048);
    for (const key of elements(right, '$setDifference', 17049).keys()) from.delete(key);
    return [...from.values()];
  }),
  'agg.allElementsTrue': eager({ mql: 1 }, (value) => listOf(value, '$allElementsTrue', 17040).every(isTruthy)),
  'agg.anyElementTrue': eager({ mql: 1 }, (value) => listOf(value, '$anyElementTrue', 17041).some(isTruthy)),
  /** Once the intersection is empty, the rest is not evaluated. */
  'agg.setIntersection': lazy({ mql: atLeast(0), size: 'grows' }, (args) => (frame) => {
    let common: Map<string, BsonValue> | undefined;
    for (const arg of args) {
      const value = arg(frame);
      if (isNullish(value)) return null;
      const next = elements(value, '$setIntersection', 17047);
      if (common === undefined) common = next;
      else for (const key of common.keys()) if (!next.has(key)) common.delete(key);
      if (common.size === 0) break;
    }
    return [...(common?.values() ?? [])];
  }),
  'agg.setEquals': lazy({ mql: atLeast(2), arityCode: 17045 }, (args) => {
    for (const arg of args) {
      const known = constantOf(arg);
      if (known !== undefined) listOf(known.value, '$setEquals', 5887502);
    }
    return (frame) => {
      const [first, ...rest] = args;
      const keys = elements(first!(frame), '$setEquals', 17044);
      let equal = true;
      for (const arg of rest) {
        const others = elements(arg(frame), '$setEquals', 17044);
        equal &&= others.size === keys.size && [...others.keys()].every((key) => keys.has(key));
      }
      return equal;
    };
  }),
  'agg.setIsSubset': lazy({ mql: 2 }, ([part, whole]) => {
    const known = constantOf(part!) === undefined ? constantOf(whole!) : undefined;
    const everything = known === undefined ? undefined : elements(known.value, '$setIsSubset', 17311);
    return (frame) => {
      const [left, right] = [part!(frame), everything === undefined ? whole!(frame) : undefined];
      const wanted = elements(left, '$setIsSubset', 17046);
      const keys = everything ?? elements(right, '$setIsSubset', 17042);
      return [...wanted.keys()].every((key) => keys.has(key));
    };
  }),
};

function listOf(value: Maybe, name: string, code: number): BsonValue[] {
  if (!Array.isArray(value)) throw new QueryError(code, `${name} takes arrays, found ${typeName(value)}`);
  return value;
}

/** The distinct elements in order, by the key that makes them equal. */
function elements(value: Maybe, name: string, code: number): Map<string, BsonValue> {
  const found = new Map<string, BsonValue>();
  for (const item of listOf(value, name, code)) {
    const key = valueKey(item);
    if (!found.has(key)) found.set(key, item);
  }
  return found;
}
