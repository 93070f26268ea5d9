/** $locf: the last existing value. $linearFill: linear interpolation between the values around a gap. */

import { compareValues } from '../bson/compare.ts';
import { isNullish, isNumeric, typeName } from '../bson/type.ts';
import { BsonDate, type Maybe, ObjectId, Timestamp } from '../bson/value.ts';
import { valueAt } from '../execute/expressions/path.ts';
import { type StartWalk, sortPath } from '../execute/window/partition.ts';
import { divide, multiply } from '../functions/numbers/arithmetic.ts';
import { add, subtract } from '../functions/numbers/sums.ts';
import { parseExpression } from '../mql/expression.ts';
import type { Expr } from '../plan/expr.ts';
import type { LinearFill, Locf } from '../plan/window.ts';
import { malformed, QueryError } from '../query-error.ts';
import type { WindowFunctionDefinition, WindowSpec } from './definition.ts';

export const linearFill: WindowFunctionDefinition<LinearFill> = {
  names: ['$linearFill'],
  parse: (spec) => {
    const input = parseInput(spec);
    if (spec.by?.length !== 1) throw new QueryError(605001, '$linearFill needs a sortBy of exactly one field');
    return { k: 'linearFill', input };
  },
  start: startLinearFill,
};

export const locf: WindowFunctionDefinition<Locf> = {
  names: ['$locf'],
  parse: (spec) => ({ k: 'locf', input: parseInput(spec) }),
  start: startLocf,
};

/** They always use the whole partition. */
function parseInput({ name, argument, hasWindow, at }: WindowSpec): Expr {
  const input = parseExpression(argument, at);
  if (hasWindow) throw malformed(`${name} does not take a 'window'`);
  return input;
}

function startLocf(): StartWalk {
  return (_partition, value) => {
    let last: Maybe = null;
    return (index) => {
      const found = value(index);
      if (!isNullish(found)) last = found;
      return last;
    };
  };
}

interface Point {
  readonly x: Maybe;
  readonly y: Maybe;
}

function startLinearFill(): StartWalk {
  return (partition, value) => {
    const count = partition.documents.length;
    const path = sortPath(partition.by);
    const place = (index: number): Maybe => valueAt(partition.documents[index], path);
    let before: Point | undefined;
    /** The next row with a value; searched for once per gap. */
    let after: Point | undefined;
    let lookedTo = 0;
    let lastPlace: Maybe;
    return (index) => {
      const y = value(index);
      const x = place(index);
      if (!isNumeric(y) && !isNullish(y)) {
        throw new QueryError('TypeMismatch', `a value to be filled must be a number or null, found ${typeName(y)}`);
      }
      checkPlace(x, lastPlace);
      lastPlace = x;
      if (!isNullish(y)) {
        before = { x, y };
        after = undefined;
        return y;
      }
      if (before === undefined) return null;
      for (lookedTo = Math.max(lookedTo, index + 1); after === undefined && lookedTo < count; lookedTo++) {
        const found = value(lookedTo);
        if (!isNullish(found)) after = { x: place(lookedTo), y: found };
      }
      if (after === undefined) return null;
      const slope = divide(subtract(after.y, before.y), subtract(after.x, before.x));
      return add(before.y, multiply(subtract(x, before.x), slope));
    };
  };
}

function checkPlace(x: Maybe, last: Maybe): void {
  if (!isNumeric(x) && !isTime(x)) {
    throw new QueryError('TypeMismatch', `$linearFill needs numbers or dates to sort by, found ${typeName(x)}`);
  }
  if (last === undefined) return;
  if (compareValues(x, last) === 0) {
    throw new QueryError(6050106, 'there can be no repeated values in the field by which $linearFill sorts');
  }
  if (isNumeric(x) !== isNumeric(last)) {
    throw new QueryError('TypeMismatch', `the field to sort by changes from ${typeName(last)} to ${typeName(x)}`);
  }
}

function isTime(value: Maybe): boolean {
  return value instanceof BsonDate || value instanceof Timestamp || value instanceof ObjectId;
}
