/** $expMovingAvg: computed in decimals for any input, as in MongoDB; the result is a decimal only if one was seen. */

import { decimalToNumber } from '../bson/decimal.ts';
import { add, decimalOfWhole, divide, multiply, subtract } from '../bson/decimal-arithmetic.ts';
import { describe } from '../bson/describe.ts';
import { isNumeric } from '../bson/type.ts';
import { BsonDocument, type BsonValue, Decimal128, Int32 } from '../bson/value.ts';
import type { StartWalk } from '../execute/window/partition.ts';
import { type Numeric, toDecimal } from '../functions/numbers/number.ts';
import { parseExpression } from '../mql/expression.ts';
import { wholeOf } from '../mql/window/bounds.ts';
import type { ExpMovingAvg } from '../plan/window.ts';
import { malformed } from '../query-error.ts';
import type { WindowFunctionDefinition, WindowSpec } from './definition.ts';

export const expMovingAvg: WindowFunctionDefinition<ExpMovingAvg> = {
  names: ['$expMovingAvg'],
  parse: parseExpMovingAvg,
  start,
};

function parseExpMovingAvg({ argument, hasWindow, by, at }: WindowSpec): ExpMovingAvg {
  if (hasWindow || !(argument instanceof BsonDocument)) {
    throw malformed(`$expMovingAvg takes one argument, an object, and no window; found ${describe(argument)}`);
  }
  const [given, n, alpha] = [argument.get('input'), argument.get('N'), argument.get('alpha')];
  if (argument.size !== 2 || given === undefined)
    throw malformed("$expMovingAvg takes 'input', and either 'N' or 'alpha'");
  if (by === undefined) throw malformed('$expMovingAvg needs a sortBy');
  const input = parseExpression(given, `${at}.input`);
  if (n !== undefined) {
    const count = wholeOf(n);
    if (count === undefined || count <= 0) throw malformed(`'N' is a positive whole number, found ${describe(n)}`);
    return { k: 'expMovingAvg', input, n: count };
  }
  if (alpha === undefined) throw malformed("$expMovingAvg takes 'input', and either 'N' or 'alpha'");
  if (!isFraction(alpha)) throw malformed(`'alpha' is a number between 0 and 1, found ${describe(alpha)}`);
  return { k: 'expMovingAvg', input, alpha: { k: 'lit', value: alpha } };
}

function isFraction(value: BsonValue): boolean {
  if (!isNumeric(value)) return false;
  const number =
    value instanceof Decimal128 ? decimalToNumber(value) : Number(value instanceof Int32 ? value.value : value);
  return number > 0 && number < 1;
}

function start(fn: ExpMovingAvg): StartWalk {
  const alpha =
    fn.n === undefined
      ? toDecimal(fn.alpha?.value as Numeric)
      : divide(decimalOfWhole(2), add(decimalOfWhole(fn.n), decimalOfWhole(1)));
  const rest = subtract(decimalOfWhole(1), alpha);
  return (_partition, value) => {
    let average: Decimal128 | undefined;
    let sawDecimal = false;
    return (index) => {
      const found = value(index);
      if (isNumeric(found)) {
        if (found instanceof Decimal128) sawDecimal = true;
        const next = toDecimal(found);
        average = average === undefined ? next : add(multiply(next, alpha), multiply(average, rest));
      }
      if (average === undefined) return null;
      return sawDecimal ? average : decimalToNumber(average);
    };
  };
}
