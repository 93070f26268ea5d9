/** $derivative and $integral. */

import { SlidingSum } from '../accumulators/sliding/sum.ts';
import { describe } from '../bson/describe.ts';
import { isNullish, isNumeric, typeName } from '../bson/type.ts';
import { BsonDate, BsonDocument, type Maybe } from '../bson/value.ts';
import { valueAt } from '../execute/expressions/path.ts';
import { extents } from '../execute/window/extent.ts';
import { type StartWalk, sortPath } from '../execute/window/partition.ts';
import { slide } from '../execute/window/slide.ts';
import { unitMs } from '../functions/dates/date-unit.ts';
import { divide, multiply } from '../functions/numbers/arithmetic.ts';
import { isNan } from '../functions/numbers/number.ts';
import { add, subtract } from '../functions/numbers/sums.ts';
import { parseExpression } from '../mql/expression.ts';
import { parseTimeUnit } from '../mql/window/bounds.ts';
import type { Expr } from '../plan/expr.ts';
import type { Derivative, Integral, Rate } from '../plan/window.ts';
import { malformed, QueryError } from '../query-error.ts';
import type { WindowFunctionDefinition, WindowSpec } from './definition.ts';

export function parseRate({ name, argument, frame, by, at }: WindowSpec): Rate {
  if (by?.length !== 1) throw malformed(`${name} needs a sortBy of one field`);
  if (!(argument instanceof BsonDocument)) throw malformed(`${name} takes an object, found ${describe(argument)}`);
  let input: Expr | undefined;
  let ms: number | undefined;
  for (const [part, value] of argument) {
    if (part === 'input') input = parseExpression(value, `${at}.input`);
    else if (part === 'unit') {
      // Months and longer units vary in length.
      ms = unitMs[parseTimeUnit(value)];
      if (ms === undefined) throw new QueryError(5490710, "'unit' must be week or smaller");
    } else throw malformed(`${name} found an unknown argument: ${part}`);
  }
  if (input === undefined) throw malformed(`${name} needs an 'input'`);
  return { input, frame, ...(ms === undefined ? {} : { unitMs: ms }) };
}

/** $derivative: the slope between the first and the last row of the window. */
export const derivative: WindowFunctionDefinition<Derivative> = {
  names: ['$derivative'],
  takesWindow: true,
  parse: (spec) => {
    const rate = parseRate(spec);
    if (!spec.hasWindow) throw malformed("$derivative needs a 'window'");
    return { k: 'derivative', ...rate };
  },
  start: startDerivative,
};

function startDerivative(fn: Derivative): StartWalk {
  return (partition, value) => {
    const extent = extents(fn.frame, partition);
    const path = sortPath(partition.by);
    return (index) => {
      const { from, to } = extent(index);
      if (from === to) return null;
      const start = valueAt(partition.documents[from], path);
      const end = valueAt(partition.documents[to - 1], path);
      checkTimes(start, end, fn.unitMs);
      const run = subtract(end, start);
      const rise = riseOf(value(from), value(to - 1));
      if (isNullish(rise)) throw new QueryError(5624903, 'the input of $derivative must not be null or missing');
      const slope = divideOrNull(rise, run);
      return slope === null || fn.unitMs === undefined ? slope : multiply(slope, BigInt(fn.unitMs));
    };
  };
}

function riseOf(start: Maybe, end: Maybe): Maybe {
  try {
    return subtract(end, start);
  } catch (error) {
    if (!(error instanceof QueryError)) throw error;
    const types = [...new Set([start, end].map(typeName))].join(' and ');
    throw new QueryError(error.code, `the input of $derivative must be numbers, found ${types}: ${error.reason}`);
  }
}

function checkTimes(start: Maybe, end: Maybe, unitMs: number | undefined): void {
  const dates = start instanceof BsonDate && end instanceof BsonDate;
  if (unitMs !== undefined) {
    if (!dates) throw new QueryError(5624900, "$derivative with a 'unit' needs dates to sort by");
    return;
  }
  if (start instanceof BsonDate || end instanceof BsonDate) {
    throw new QueryError(5624901, "$derivative over dates needs a 'unit'");
  }
  if (!isNumeric(start) || !isNumeric(end)) throw new QueryError(5624902, '$derivative needs numbers to sort by');
}

/** Null instead of an error if the divisor is zero. */
function divideOrNull(left: Maybe, right: Maybe): Maybe {
  if (isNullish(left) || isNullish(right)) return null;
  try {
    return divide(left, right);
  } catch (error) {
    if (error instanceof QueryError && error.codeName === 'BadValue') return null;
    throw error;
  }
}

/** $integral: the area under the rows of the window, by trapezoids. */
export const integral: WindowFunctionDefinition<Integral> = {
  names: ['$integral'],
  takesWindow: true,
  parse: (spec) => ({ k: 'integral', ...parseRate(spec) }),
  start: startIntegral,
};

interface Point {
  readonly x: Maybe;
  readonly y: Maybe;
  readonly nan: boolean;
}

function startIntegral(fn: Integral): StartWalk {
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
