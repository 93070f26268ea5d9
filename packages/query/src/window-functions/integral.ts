/** $integral: the area under the rows of the window, by trapezoids. */

import { SlidingSum } from '../accumulators/sliding/sum.ts';
import { isNumeric } from '../bson/type.ts';
import { BsonDate, type Maybe } from '../bson/value.ts';
import { valueAt } from '../execute/expressions/path.ts';
import { extents } from '../execute/window/extent.ts';
import { type StartWalk, sortPath } from '../execute/window/partition.ts';
import { slide } from '../execute/window/slide.ts';
import { divide, multiply } from '../functions/numbers/arithmetic.ts';
import { isNan } from '../functions/numbers/number.ts';
import { add, subtract } from '../functions/numbers/sums.ts';
import type { Integral } from '../plan/window.ts';
import { QueryError } from '../query-error.ts';
import type { WindowFunctionDefinition } from './definition.ts';
import { parseRate } from './rate.ts';

export const integral: WindowFunctionDefinition<Integral> = {
  names: ['$integral'],
  takesWindow: true,
  parse: (spec) => ({ k: 'integral', ...parseRate(spec) }),
  start,
};

interface Point {
  readonly x: Maybe;
  readonly y: Maybe;
  readonly nan: boolean;
}

function start(fn: Integral): StartWalk {
  return (partition, value) => {
    const path = sortPath(partition.by);
    const area = new SlidingSum();
    let nans = 0;
    const points = new Map<number, Point>();
    const point = (index: number): Point => {
      const known = points.get(index);
      if (known !== undefined) return known;
      const found = checked(valueAt(partition.documents[index], path), value(index), fn.unitMs);
      points.set(index, found);
      return found;
    };
    let size = 0;
    const move = slide(
      extents(fn.frame, partition),
      (index) => {
        if (point(index).nan) nans++;
        if (size++ > 0) area.add(trapezoid(point(index - 1), point(index)));
      },
      (index) => {
        if (point(index).nan) nans--;
        if (--size > 0) area.remove(trapezoid(point(index), point(index + 1)));
        points.delete(index);
      },
    );
    return (index) => {
      const { from, to } = move(index);
      if (from === to) return null;
      if (nans > 0) return Number.NaN;
      return fn.unitMs === undefined ? area.total() : divide(area.total(), BigInt(fn.unitMs));
    };
  };
}

function checked(x: Maybe, y: Maybe, unitMs: number | undefined): Point {
  if (!isNumeric(y) || !(isNumeric(x) || x instanceof BsonDate)) {
    throw new QueryError(5423900, '$integral needs numbers as input, and numbers or dates to sort by');
  }
  if (unitMs !== undefined && !(x instanceof BsonDate)) {
    throw new QueryError(5423901, "$integral with a 'unit' needs dates to sort by");
  }
  if (unitMs === undefined && !isNumeric(x)) throw new QueryError(5423902, "$integral over dates needs a 'unit'");
  return { x, y, nan: isNan(y) || (isNumeric(x) && isNan(x)) };
}

function trapezoid(left: Point, right: Point): Maybe {
  return left.nan || right.nan ? undefined : divide(multiply(add(right.y, left.y), subtract(right.x, left.x)), 2);
}
