/** $expMovingAvg: weighted by N, or by alpha itself. */

import { decimalToNumber } from '../../bson/decimal.ts';
import { describe } from '../../bson/describe.ts';
import { isNumeric } from '../../bson/type.ts';
import { BsonDocument, type BsonValue, Decimal128, Int32 } from '../../bson/value.ts';
import type { WindowFunction } from '../../plan/window.ts';
import { QueryError } from '../../query-error.ts';
import { parseExpression } from '../expression.ts';
import { wholeOf } from './bounds.ts';
import type { WindowSpec } from './function.ts';

export function parseExpMovingAvg({ argument, hasWindow, by, at }: WindowSpec): WindowFunction {
  const fail = (reason: string): QueryError => new QueryError('FailedToParse', reason, { path: at });
  if (hasWindow || !(argument instanceof BsonDocument)) {
    throw fail(`$expMovingAvg takes one argument, an object, and no window; found ${describe(argument)}`);
  }
  const [given, n, alpha] = [argument.get('input'), argument.get('N'), argument.get('alpha')];
  if (argument.size !== 2 || given === undefined) throw fail("$expMovingAvg takes 'input', and either 'N' or 'alpha'");
  if (by === undefined) throw fail('$expMovingAvg needs a sortBy');
  const input = parseExpression(given, `${at}.input`);
  if (n !== undefined) {
    const count = wholeOf(n);
    if (count === undefined || count <= 0) throw fail(`'N' is a positive whole number, found ${describe(n)}`);
    return { k: 'expMovingAvg', input, n: count };
  }
  if (alpha === undefined) throw fail("$expMovingAvg takes 'input', and either 'N' or 'alpha'");
  if (!isFraction(alpha)) throw fail(`'alpha' is a number between 0 and 1, found ${describe(alpha)}`);
  return { k: 'expMovingAvg', input, alpha: { k: 'lit', value: alpha } };
}

function isFraction(value: BsonValue): boolean {
  if (!isNumeric(value)) return false;
  const number =
    value instanceof Decimal128 ? decimalToNumber(value) : Number(value instanceof Int32 ? value.value : value);
  return number > 0 && number < 1;
}
