/** $rand: a double from 0 up to, but excluding, 1; another one for each row. */

import { describe } from '../../bson/describe.ts';
import { BsonDocument, type BsonValue } from '../../bson/value.ts';
import { call, type Expr } from '../../plan/expr.ts';
import { QueryError } from '../../query-error.ts';
import type { Functions, OperandContext } from '../definition.ts';

export const rand: Functions = { 'agg.rand': { mql: parseRand, volatile: true, eager: () => draw() } };

function draw(random: () => number = Math.random): number {
  return random();
}

function parseRand(operand: BsonValue, { at }: OperandContext): Expr {
  if (!(operand instanceof BsonDocument) && !Array.isArray(operand)) {
    throw new QueryError(10065, `$rand takes an empty object, found ${describe(operand)}`);
  }
  if ((operand instanceof BsonDocument ? operand.size : operand.length) > 0) {
    throw new QueryError(3040501, '$rand does not take arguments');
  }
  return call('agg.rand', [], at);
}
