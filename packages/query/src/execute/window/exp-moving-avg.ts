/** $expMovingAvg: computed in decimals whatever the input, as MongoDB does; a decimal only if one was seen. */

import { decimalToNumber } from '../../bson/decimal.ts';
import { add, decimalOfWhole, divide, multiply, subtract } from '../../bson/decimal-arithmetic.ts';
import { isNumeric } from '../../bson/type.ts';
import { Decimal128 } from '../../bson/value.ts';
import { type Numeric, toDecimal } from '../../functions/numbers/number.ts';
import type { WindowFunction } from '../../plan/window.ts';
import { compileExpression } from '../expressions/expression.ts';
import { evaluator, type StartWalk, type Workspace } from './partition.ts';

export function expMovingAvg(fn: WindowFunction & { k: 'expMovingAvg' }, workspace: Workspace): StartWalk {
  const input = compileExpression(fn.input);
  const alpha =
    fn.n === undefined
      ? toDecimal(fn.alpha?.value as Numeric)
      : divide(decimalOfWhole(2), add(decimalOfWhole(fn.n), decimalOfWhole(1)));
  const rest = subtract(decimalOfWhole(1), alpha);
  return (partition) => {
    const value = evaluator(input, partition, workspace);
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
