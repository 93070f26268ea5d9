/** The `window` of a window function: documents or a range around the current one. */
import { compareValues } from '../../bson/compare.ts';
import { decimalToNumber } from '../../bson/decimal.ts';
import { describe } from '../../bson/describe.ts';
import { isNumeric } from '../../bson/type.ts';
import { BsonDocument, type BsonValue, Decimal128, Int32, type Maybe } from '../../bson/value.ts';
import { isUnit, type Unit, units } from '../../functions/dates/date-unit.ts';
import type { SortKey } from '../../plan/sort-key.ts';
import { type Bound, type Constant, type WindowFrame, wholePartition } from '../../plan/window.ts';
import { malformed, QueryError, withErrorsAt } from '../../query-error.ts';
import { constantOf, parseExpression } from '../expression.ts';

/** @param by the order of the stage, undefined if it has none. @param output position of the window function in the query. */
export function parseBounds(spec: BsonValue, by: readonly SortKey[] | undefined, output: string): WindowFrame {
  const at = `${output}.window`;
  return withErrorsAt({ path: at }, () => {
    if (!(spec instanceof BsonDocument)) throw malformed(`'window' must be an object, found ${describe(spec)}`);
    const [documents, range, unit] = [spec.get('documents'), spec.get('range'), spec.get('unit')];
    if (documents !== undefined && range !== undefined)
      throw malformed("a window has 'documents' or 'range', not both");
    if (unit !== undefined && range === undefined) throw malformed("'unit' needs a window by 'range'");
    const known = [documents, range, unit].filter((each) => each !== undefined).length;
    if (spec.size > known) {
      throw malformed(`a window has documents, or range and unit; found ${[...spec.keys()].join(', ')}`);
    }
    if (documents !== undefined) return documentFrame(documents, by, at);
    return range === undefined ? wholePartition : rangeFrame(range, unit, by, at);
  });
}

function documentFrame(value: BsonValue, by: readonly SortKey[] | undefined, at: string): WindowFrame {
  const [lower, upper] = boundsOf(value, at, (found) => {
    const number = int32Of(found);
    if (number === undefined) throw malformed(`bounds of documents are whole numbers, found ${describe(found)}`);
    return number;
  });
  checkOrder(lower, upper);
  if (by === undefined && (lower !== 'unbounded' || upper !== 'unbounded')) {
    throw new QueryError(5339901, 'a window of documents needs a sortBy');
  }
  return { k: 'documents', lower, upper };
}

function rangeFrame(
  value: BsonValue,
  unit: BsonValue | undefined,
  by: readonly SortKey[] | undefined,
  at: string,
): WindowFrame {
  if (unit !== undefined && typeof unit !== 'string')
    throw malformed(`'unit' must be a string, found ${describe(unit)}`);
  const [lower, upper] = boundsOf(value, at, (found): Constant => {
    if (unit === undefined ? isNumeric(found) : int32Of(found) !== undefined) return { k: 'lit', value: found };
    const wanted = unit === undefined ? 'numbers' : 'whole numbers of the unit';
    throw malformed(`bounds of a range are ${wanted}, found ${describe(found)}`);
  });
  checkOrder(typeof lower === 'string' ? lower : lower.value, typeof upper === 'string' ? upper : upper.value);
  const timeUnit = unit === undefined ? undefined : parseTimeUnit(unit);
  if (by?.length !== 1) throw new QueryError(5339902, 'a window by range needs a sortBy of one field');
  if (by[0]!.descending) throw new QueryError(8947401, 'a window by range needs an ascending sortBy');
  return { k: 'range', lower, upper, ...(timeUnit === undefined ? {} : { unit: timeUnit }) };
}

function boundsOf<T>(value: BsonValue, at: string, read: (found: Maybe) => T): [Bound<T>, Bound<T>] {
  if (!Array.isArray(value) || value.length !== 2)
    throw malformed(`bounds are an array of two, found ${describe(value)}`);
  return [parseBound(value[0]!, at, read), parseBound(value[1]!, at, read)];
}

function parseBound<T>(value: BsonValue, at: string, read: (found: Maybe) => T): Bound<T> {
  if (value === 'unbounded' || value === 'current') return value;
  if (typeof value === 'string') {
    throw malformed(`a bound is 'unbounded', 'current' or a number, found ${describe(value)}`);
  }
  const constant = constantOf(parseExpression(value, at));
  if (constant === undefined) throw malformed('a bound must be a constant');
  return read(constant.value);
}

/** A whole number of any numeric type that fits into 32 bits. */
export function int32Of(value: Maybe): number | undefined {
  const number = wholeOf(value);
  return number === undefined || number !== (number | 0) ? undefined : number;
}

/** A whole number of any numeric type. */
export function wholeOf(value: Maybe): number | undefined {
  if (!isNumeric(value)) return undefined;
  const number =
    value instanceof Decimal128 ? decimalToNumber(value) : Number(value instanceof Int32 ? value.value : value);
  return Number.isInteger(number) ? number : undefined;
}

function checkOrder(lower: Maybe, upper: Maybe): void {
  const [low, high] = [lower, upper].map((bound) => (bound === 'current' ? 0 : bound));
  if (low === 'unbounded' || high === 'unbounded' || compareValues(low, high) <= 0) return;
  throw new QueryError(5339900, `the lower bound ${describe(low)} exceeds the upper bound ${describe(high)}`);
}

/** Units of time as users write them. */
export function parseTimeUnit(value: BsonValue): Unit {
  if (typeof value !== 'string') throw malformed(`'unit' must be a string, found ${describe(value)}`);
  if (isUnit(value)) return value;
  throw malformed(`unknown time unit ${describe(value)}`, { hint: `the units are ${[...units].join(', ')}` });
}
