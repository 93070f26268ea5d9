/** The operators of $match for one field. */

import { compileRegex } from '../../bson/compile-regex.ts';
import { describe } from '../../bson/describe.ts';
import { isNumeric, typeNumbers } from '../../bson/type.ts';
import { BsonDocument, BsonUndefined, type BsonValue, Regex } from '../../bson/value.ts';
import { geoIntersects, geoWithin } from '../../execute/geo/region.ts';
import type { BitsTest } from '../../execute/match/bits.ts';
import { toDouble, wholePart } from '../../functions/numbers/number.ts';
import { call, type Expr, literal } from '../../plan/expr.ts';
import { malformed, QueryError, withErrorsAt } from '../../query-error.ts';
import { parseBitPositions } from './bits.ts';

/** The parsers that operators need from filter.ts; passed as arguments, so that the two files do not import each other. */
export interface FilterParts {
  readonly query: (query: BsonDocument, at: string) => Expr;
  readonly operators: (subject: Expr, operators: BsonDocument, at: string) => Expr;
  /** The `$options` of a `$regex`. */
  readonly options?: BsonValue | undefined;
}

type FieldOperator = (subject: Expr, value: BsonValue, at: string, parts: FilterParts) => Expr;

export const fieldOperators: Readonly<Record<string, FieldOperator>> = {
  $eq: comparison('eq'),
  $ne: (subject, value, at) => {
    if (value instanceof Regex) throw bad('$ne cannot take a regular expression, use $not', at);
    return not(call('match.eq', [subject, literal(defined(value, at))], at), at);
  },
  $gt: comparison('gt'),
  $gte: comparison('gte'),
  $lt: comparison('lt'),
  $lte: comparison('lte'),
  $in: (subject, value, at) => call('match.in', [subject, literal(listOf(value, '$in', at))], at),
  $nin: (subject, value, at) => not(call('match.in', [subject, literal(listOf(value, '$nin', at))], at), at),
  $not: parseNot,
  $exists: (subject, value, at) => {
    const exists = call('match.exists', [subject], at);
    return isTrue(value) ? exists : not(exists, at);
  },
  $type: parseType,
  $regex: parseRegex,
  $size: parseSize,
  $all: parseAll,
  $elemMatch: parseElemMatch,
  $mod: parseMod,
  $bitsAllSet: bits('bitsAllSet'),
  $bitsAllClear: bits('bitsAllClear'),
  $bitsAnySet: bits('bitsAnySet'),
  $bitsAnyClear: bits('bitsAnyClear'),
  $geoWithin: geo('geoWithin', geoWithin),
  $within: geo('geoWithin', geoWithin),
  $geoIntersects: geo('geoIntersects', geoIntersects),
};

function bad(reason: string, at: string): QueryError {
  return new QueryError('BadValue', reason, { path: at });
}

function not(expr: Expr, at: string): Expr {
  return call('match.nor', [expr], at);
}

function isTrue(value: BsonValue): boolean {
  if (value === null || value === false || value instanceof BsonUndefined) return false;
  return !isNumeric(value) || toDouble(value) !== 0;
}

function defined(value: BsonValue, at: string): BsonValue {
  if (value instanceof BsonUndefined) throw bad('cannot compare to undefined', at);
  return value;
}

function comparison(op: 'eq' | 'gt' | 'gte' | 'lt' | 'lte'): FieldOperator {
  return (subject, value, at) => {
    if (op !== 'eq' && value instanceof Regex) throw bad(`$${op} cannot take a regular expression`, at);
    return call(`match.${op}`, [subject, literal(defined(value, at))], at);
  };
}

function bits(test: BitsTest): FieldOperator {
  return (subject, value, at) =>
    call(`match.${test}`, [subject, literal(parseBitPositions(value, `$${test}`, at))], at);
}

function geo(name: 'geoWithin' | 'geoIntersects', compile: typeof geoWithin): FieldOperator {
  return (subject, value, at) => {
    if (compile(value) === undefined)
      throw bad(`$${name} needs one region that is valid, found ${describe(value)}`, at);
    return call(`match.${name}`, [subject, literal(value)], at);
  };
}

function listOf(value: BsonValue, name: string, at: string): BsonValue[] {
  if (!Array.isArray(value)) throw bad(`${name} needs an array, found ${describe(value)}`, at);
  for (const item of value) {
    if (item instanceof BsonDocument && [...item.keys()][0]?.startsWith('$')) {
      throw bad(`cannot nest operators inside ${name}: ${describe(item)}`, at);
    }
    defined(item, at);
    if (item instanceof Regex) checkRegex(item, at);
  }
  return value;
}

function parseNot(subject: Expr, value: BsonValue, at: string, parts: FilterParts): Expr {
  if (value instanceof Regex) return not(parseRegex(subject, value, at, parts), at);
  if (!(value instanceof BsonDocument))
    throw bad(`$not needs a regular expression or an object, found ${describe(value)}`, at);
  if (value.size === 0) throw bad('$not cannot be empty', at);
  return not(parts.operators(subject, value, at), at);
}

/** The argument of `match.type` is an array of type numbers; 0 stands for "any number". */
function parseType(subject: Expr, value: BsonValue, at: string): Expr {
  const types = Array.isArray(value) ? value : [value];
  if (types.length === 0) throw malformed('$type must match at least one type', { path: at });
  const numbers = types.map((type) => {
    if (typeof type === 'string') {
      if (type === 'number') return 0;
      if (Object.hasOwn(typeNumbers, type)) return typeNumbers[type as keyof typeof typeNumbers];
      throw bad(`unknown type name alias: ${type}`, at);
    }
    if (!isNumeric(type)) {
      throw new QueryError('TypeMismatch', `a type is a number or a name, found ${describe(type)}`, { path: at });
    }
    const number = toDouble(type);
    if (number !== 0 && Object.values(typeNumbers).some((known) => known === number)) return number;
    throw bad(`invalid numerical type code: ${describe(type)}`, at);
  });
  return call('match.type', [subject, literal(numbers)], at);
}

function parseRegex(subject: Expr, value: BsonValue, at: string, parts: FilterParts): Expr {
  const options = parts.options;
  if (options !== undefined && typeof options !== 'string')
    throw bad(`$options must be a string, found ${describe(options)}`, at);
  if (typeof value !== 'string' && !(value instanceof Regex))
    throw bad(`$regex must be a string, found ${describe(value)}`, at);
  if (value instanceof Regex && value.options !== '' && options !== undefined) {
    throw new QueryError(51075, 'options set in both $regex and $options', { path: at });
  }
  const regex =
    value instanceof Regex ? new Regex(value.pattern, options ?? value.options) : new Regex(value, options ?? '');
  checkRegex(regex, at);
  return call('match.regex', [subject, literal(regex)], at);
}

function wholeNumber(value: BsonValue, name: string, at: string): number {
  if (!isNumeric(value)) throw bad(`${name} needs a number, found ${describe(value)}`, at);
  const number = toDouble(value);
  if (!Number.isInteger(number)) throw bad(`${name} needs a whole number, found ${describe(value)}`, at);
  return number;
}

function parseSize(subject: Expr, value: BsonValue, at: string): Expr {
  const size = wholeNumber(value, '$size', at);
  if (size < 0) throw bad(`$size may not be negative, found ${size}`, at);
  return call('match.size', [subject, literal(size)], at);
}

function parseMod(subject: Expr, value: BsonValue, at: string): Expr {
  if (!Array.isArray(value)) throw bad(`malformed mod, needs to be an array, found ${describe(value)}`, at);
  if (value.length !== 2)
    throw bad(`malformed mod, needs a divisor and a remainder, found ${value.length} elements`, at);
  const [divisor, remainder] = value.map((part) => {
    if (!isNumeric(part)) throw bad(`malformed mod, needs numbers, found ${describe(part)}`, at);
    const number = wholePart(part);
    if (number === undefined) throw bad(`malformed mod, needs numbers of 64 bits, found ${describe(part)}`, at);
    return number;
  });
  if (divisor === 0n) throw bad('divisor cannot be 0', at);
  return call('match.mod', [subject, literal(divisor), literal(remainder)], at);
}

function parseAll(subject: Expr, value: BsonValue, at: string, parts: FilterParts): Expr {
  if (!Array.isArray(value)) throw bad(`$all needs an array, found ${describe(value)}`, at);
  if (value.length === 0) return literal(false);
  const isElemMatch = (item: BsonValue): item is BsonDocument =>
    item instanceof BsonDocument && [...item.keys()][0] === '$elemMatch';
  const nested = isElemMatch(value[0]!);
  const terms = value.map((item) => {
    if (isElemMatch(item) !== nested) throw bad('$all/$elemMatch must be consistent', at);
    if (isElemMatch(item)) return parseElemMatch(subject, item.get('$elemMatch')!, at, parts);
    if (item instanceof BsonDocument && String([...item.keys()][0]).startsWith('$'))
      throw bad('no $ expressions in $all', at);
    if (item instanceof Regex) return parseRegex(subject, item, at, { ...parts, options: undefined });
    return call('match.eq', [subject, literal(defined(item, at))], at);
  });
  return call('match.and', terms, at);
}

/** Matches objects against a query, or values against operators. */
function parseElemMatch(subject: Expr, value: BsonValue, at: string, parts: FilterParts): Expr {
  if (!(value instanceof BsonDocument)) throw bad(`$elemMatch needs an object, found ${describe(value)}`, at);
  const [first] = value.keys();
  const ofValues = first?.startsWith('$') && !['$and', '$or', '$nor', '$where', '$expr'].includes(first);
  const body = ofValues ? parts.operators({ k: 'field', path: [] }, value, at) : parts.query(value, at);
  return { k: 'bind', fn: 'match.elem', vars: ofValues ? ['value'] : ['object'], args: [subject], body, at };
}

/** Regular expressions in queries: checked when parsed, so that an invalid one is an error even over no rows. */
export function checkRegex(regex: Regex, at: string): void {
  withErrorsAt({ path: at }, () => compileRegex(regex));
}
