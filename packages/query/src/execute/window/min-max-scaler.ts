/** $minMaxScaler: where a number lies between the least and the greatest of its window. */

import { slidingExtreme } from '../../accumulators/sliding/extreme.ts';
import { compareValues } from '../../bson/compare.ts';
import { isNumeric, typeName } from '../../bson/type.ts';
import type { BsonValue } from '../../bson/value.ts';
import { divide, multiply } from '../../functions/numbers/arithmetic.ts';
import { add, subtract } from '../../functions/numbers/sums.ts';
import type { WindowFunction } from '../../plan/window.ts';
import { QueryError } from '../../query-error.ts';
import { compileExpression } from '../expressions/expression.ts';
import { extents } from './extent.ts';
import { evaluator, type StartWalk, type Workspace } from './partition.ts';
import { slide } from './slide.ts';

export function minMaxScaler(fn: WindowFunction & { k: 'minMaxScaler' }, workspace: Workspace): StartWalk {
  const input = compileExpression(fn.input);
  const [min, max] = [fn.min.value, fn.max.value];
  return (partition) => {
    const evaluate = evaluator(input, partition, workspace);
    const value = (index: number): BsonValue => {
      const found = evaluate(index);
      if (isNumeric(found)) return found;
      throw new QueryError(10487000, `the input of $minMaxScaler must be a number, found ${typeName(found)}`);
    };
    const least = slidingExtreme(1);
    const greatest = slidingExtreme(-1);
    const move = slide(
      extents(fn.frame, partition),
      (index) => {
        const found = value(index);
        least.add(found);
        greatest.add(found);
      },
      () => {
        least.remove(undefined);
        greatest.remove(undefined);
      },
    );
    return (index) => {
      move(index);
      const [low, high] = [least.result(), greatest.result()];
      if (compareValues(low, high) === 0) return min;
      return add(multiply(divide(subtract(value(index), low), subtract(high, low)), subtract(max, min)), min);
    };
  };
}
