/** Query operators over a row, with MongoDB's rules for arrays on the path and for kinds of values. */

import { compareValues } from '../../bson/compare.ts';
import { compileRegex } from '../../bson/compile-regex.ts';
import { isNumeric, typeName, typeNumbers, typeRank } from '../../bson/type.ts';
import {
  BsonDocument,
  BsonSymbol,
  type BsonValue,
  Int32,
  MaxKey,
  type Maybe,
  MinKey,
  Regex,
} from '../../bson/value.ts';
import type { Expr, Path } from '../../plan/expr.ts';
import { QueryError } from '../../query-error.ts';
import { isNan, wholePart } from '../functions/numbers/number.ts';
import { geoIntersects, geoWithin } from '../geo/region.ts';
import { type BitsTest, bitsTest } from '../match/bits.ts';
import { compileJsonSchema } from '../match/json-schema.ts';
import { pathMatches } from './match-path.ts';
import type { Evaluate } from './scope.ts';
import { isTruthy } from './truth.ts';

type Compile = (expr: Expr) => Evaluate;
type Test = (value: Maybe) => boolean;

/** A filter as a yes or no for a row. */
export function compileMatch(
  expr: Expr & { k: 'call' },
  compile: Compile,
  random: () => number = Math.random,
): Evaluate {
  switch (expr.fn) {
    case 'match.and': {
      const terms = expr.args.map(compile);
      const [only] = terms;
      if (terms.length === 1) return (frame) => isTruthy(only!(frame));
      return (frame) => terms.every((term) => isTruthy(term(frame)));
    }
    case 'match.or': {
      const terms = expr.args.map(compile);
      return (frame) => terms.some((term) => isTruthy(term(frame)));
    }
    case 'match.nor': {
      const terms = expr.args.map(compile);
      return (frame) => !terms.some((term) => isTruthy(term(frame)));
    }
    case 'match.expr': {
      const inner = compile(expr.args[0]!);
      return (frame) => isTruthy(inner(frame));
    }
    case 'match.text':
      throw new QueryError('IndexNotFound', '$text needs a text index, which this platform does not have', {
        path: expr.at,
      });
    case 'match.sampleRate': {
      const rate = literalOf(expr.args[0]);
      return () => random() < Number(rate);
    }
    case 'match.jsonSchema': {
      const test = compileJsonSchema(literalOf(expr.args[1]));
      return (frame) => frame.root !== undefined && test(frame.root);
    }
    case 'match.size': {
      const size = literalOf(expr.args[1]);
      return onPath(expr, false, (value) => Array.isArray(value) && value.length === size);
    }
    default:
      return onPath(expr, true, compileTest(expr));
  }
}

function literalOf(expr: Expr | undefined): Maybe {
  if (expr?.k !== 'lit') throw new QueryError('BadValue', 'a query operator takes a literal');
  return expr.value;
}

function pathOf(expr: Expr | undefined): Path {
  if (expr?.k !== 'field') throw new QueryError('BadValue', 'a query operator takes a field');
  return expr.path;
}

function onPath(expr: Expr & { k: 'call' }, expand: boolean, test: Test): Evaluate {
  const path = pathOf(expr.args[0]);
  // An element that $elemMatch looks at is tested as it is: an array in an array is not entered.
  const enters = expand && path.length > 0;
  return (frame) => pathMatches(frame.root, path, enters, test);
}

/** The body sees each element of the array as its row; arrays on the way are followed, the array itself is not expanded. */
export function compileElemMatch(expr: Expr & { k: 'bind' }, compile: Compile): Evaluate {
  const path = pathOf(expr.args[0]);
  const body = compile(expr.body);
  const ofObjects = expr.vars[0] === 'object';
  return (frame) => {
    const inner = { ...frame };
    const holds = (item: BsonValue): boolean => {
      if (ofObjects && !(item instanceof BsonDocument) && !Array.isArray(item)) return false;
      // An array as an element is looked into by index, like an object with the names "0", "1", ….
      inner.root =
        ofObjects && Array.isArray(item) ? new BsonDocument(item.map((each, index) => [String(index), each])) : item;
      return isTruthy(body(inner));
    };
    return pathMatches(frame.root, path, false, (value) => Array.isArray(value) && value.some(holds));
  };
}

function compileTest(expr: Expr & { k: 'call' }): Test {
  const value = expr.fn === 'match.exists' ? undefined : literalOf(expr.args[1]);
  switch (expr.fn) {
    case 'match.exists':
      return (found) => found !== undefined;
    case 'match.eq':
      return equality(value);
    case 'match.gt':
      return ordered(value, (order) => order > 0);
    case 'match.gte':
      return ordered(value, (order) => order >= 0);
    case 'match.lt':
      return ordered(value, (order) => order < 0);
    case 'match.lte':
      return ordered(value, (order) => order <= 0);
    case 'match.in':
      return membership(value as BsonValue[]);
    case 'match.regex':
      return regexTest(value as Regex);
    case 'match.type':
      return typeTest(value as number[]);
    case 'match.mod':
      return modTest(value as bigint, literalOf(expr.args[2]) as bigint);
    case 'match.geoWithin':
      return geoWithin(value ?? null) ?? (() => false);
    case 'match.geoIntersects':
      return geoIntersects(value ?? null) ?? (() => false);
    case 'match.bitsAllSet':
    case 'match.bitsAllClear':
    case 'match.bitsAnySet':
    case 'match.bitsAnyClear':
      return bitsTest(
        expr.fn.slice('match.'.length) as BitsTest,
        (value as Int32[]).map((position) => position.value),
      );
    default:
      throw new QueryError('BadValue', `unknown query operator ${expr.fn}`);
  }
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
  // Doubles with doubles, of which there are most.
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
