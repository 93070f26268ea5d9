/** $derivative: the slope between the first and the last row of the window. */

import { isNullish, isNumeric, typeName } from '../bson/type.ts';
import { BsonDate, type Maybe } from '../bson/value.ts';
import { valueAt } from '../execute/expressions/path.ts';
import { extents } from '../execute/window/extent.ts';
import { type StartWalk, sortPath } from '../execute/window/partition.ts';
import { divide, multiply } from '../functions/numbers/arithmetic.ts';
import { subtract } from '../functions/numbers/sums.ts';
import type { Derivative } from '../plan/window.ts';
import { malformed, QueryError } from '../query-error.ts';
import type { WindowFunctionDefinition } from './definition.ts';
import { parseRate } from './rate.ts';

export const derivative: WindowFunctionDefinition<Derivative> = {
  names: ['$derivative'],
  takesWindow: true,
  parse: (spec) => {
    const rate = parseRate(spec);
    if (!spec.hasWindow) throw malformed("$derivative needs a 'window'");
    return { k: 'derivative', ...rate };
  },
  start,
};

function start(fn: Derivative): StartWalk {
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
