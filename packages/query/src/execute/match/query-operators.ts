/** The query operators that test one value, such as $gt and $in, with MongoDB's rules for types of values. */

import { compareValues, comparisons } from '../../bson/compare.ts';
import { compileRegex } from '../../bson/compile-regex.ts';
import { isNumeric, typeName, typeNumbers, typeRank } from '../../bson/type.ts';
import { BsonSymbol, type BsonValue, Int32, MaxKey, type Maybe, MinKey, Regex } from '../../bson/value.ts';
import { isNan, wholePart } from '../../functions/numbers/number.ts';
import { geoIntersects, geoWithin } from '../geo/region.ts';
import { type BitsTest, bitsTest } from './bits.ts';

type Test = (value: Maybe) => boolean;

export interface QueryOperator {
  /** Builds the test from the operator's literals. */
  readonly test: (...operands: Maybe[]) => Test;
  /** No value makes it fail, so rows may be filtered after it. */
  readonly neverFails?: true;
  /** An array at the end of the path is not tested element by element. */
  readonly ofWholeArrays?: true;
}

function total(test: QueryOperator['test']): QueryOperator {
  return { test, neverFails: true };
}

/** By their names in plans. */
export const queryOperators: ReadonlyMap<string, QueryOperator> = new Map(
  Object.entries({
    'match.exists': total(() => (found) => found !== undefined),
    'match.eq': total(equality),
    'match.gt': total((value) => ordered(value, comparisons.gt)),
    'match.gte': total((value) => ordered(value, comparisons.gte)),
    'match.lt': total((value) => ordered(value, comparisons.lt)),
    'match.lte': total((value) => ordered(value, comparisons.lte)),
    'match.in': total((values) => membership(values as BsonValue[])),
    'match.regex': total((regex) => regexTest(regex as Regex)),
    'match.type': total((types) => typeTest(types as number[])),
    'match.mod': total((divisor, remainder) => modTest(divisor as bigint, remainder as bigint)),
    'match.size': {
      test: (size) => (value) => Array.isArray(value) && value.length === size,
      neverFails: true,
      ofWholeArrays: true,
    },
    'match.geoWithin': { test: (region) => geoWithin(region ?? null) ?? (() => false) },
    'match.geoIntersects': { test: (region) => geoIntersects(region ?? null) ?? (() => false) },
    ...Object.fromEntries(
      (['bitsAllSet', 'bitsAllClear', 'bitsAnySet', 'bitsAnyClear'] as const).map((name) => [
        `match.${name}`,
        total((positions) => bits(name, positions)),
      ]),
    ),
  } satisfies Record<string, QueryOperator>),
);

function bits(name: BitsTest, positions: Maybe): Test {
  return bitsTest(
    name,
    (positions as Int32[]).map((position) => position.value),
  );
}

function equality(value: Maybe): Test {
  // Missing counts as null.
  if (value === null) return (found) => found === undefined || found === null;
  if (typeof value === 'string')
    return (found) => found === value || (found instanceof BsonSymbol && found.value === value);
  return (found) => found !== undefined && compareValues(found, value) === 0;
}

/** Only values of the same kind compare; NaN compares only with NaN, and only as equal. */
function ordered(value: Maybe, holds: (order: number) => boolean): Test {
  if (value === null) return holds(0) ? (found) => found === undefined || found === null : () => false;
  if (value instanceof MinKey || value instanceof MaxKey) return (found) => holds(compareValues(found, value));
  const rank = typeRank(value);
  const isNotANumber: Test = (each) => isNumeric(each) && isNan(each);
  if (isNotANumber(value)) return holds(0) ? isNotANumber : () => false;
  const general: Test = (found) =>
    found !== undefined && typeRank(found) === rank && !isNotANumber(found) && holds(compareValues(found, value));
  const number = value instanceof Int32 ? value.value : value;
  if (typeof number !== 'number') return general;
  // The most common case: doubles with doubles.
  return (found) =>
    typeof found === 'number' && !Number.isNaN(found)
      ? holds(found > number ? 1 : found < number ? -1 : 0)
      : general(found);
}

function membership(values: readonly BsonValue[]): Test {
  const tests = values.map((value) => (value instanceof Regex ? regexTest(value) : equality(value)));
  const texts = new Set(values.filter((value) => typeof value === 'string'));
  if (texts.size === values.length) return (found) => typeof found === 'string' && texts.has(found);
  return (found) => tests.some((test) => test(found));
}

function regexTest(regex: Regex): Test {
  const matches = compileRegex(regex);
  return (found) => {
    if (typeof found === 'string') return matches(found);
    if (found instanceof BsonSymbol) return matches(found.value);
    return found instanceof Regex && found.pattern === regex.pattern && found.options === regex.options;
  };
}

function typeTest(types: readonly number[]): Test {
  return (found) => {
    if (found === undefined) return false;
    const name = typeName(found);
    return types.some((type) => (type === 0 ? isNumeric(found) : name !== 'missing' && typeNumbers[name] === type));
  };
}

function modTest(divisor: bigint, remainder: bigint): Test {
  return (found) => {
    const whole = isNumeric(found) ? wholePart(found) : undefined;
    return whole !== undefined && whole % divisor === remainder;
  };
}
