/** $rand and $sigmoid, whose arguments are not lists. */

import { BsonDocument } from '../../bson/value.ts';
import { call } from '../../plan/expr.ts';
import { QueryError } from '../../query-error.ts';
import { describe } from '../describe.ts';
import type { SpecialForm } from './form.ts';

export const numberForms: Readonly<Record<string, SpecialForm>> = {
  // A list is one value to it, and not a number.
  $sigmoid: (operand, at, _vars, parse) => call('agg.sigmoid', [parse(operand)], at),
  $rand: (operand, at) => {
    if (!(operand instanceof BsonDocument) && !Array.isArray(operand)) {
      throw new QueryError(10065, `$rand takes an empty object, found ${describe(operand)}`, { path: at });
    }
    if ((operand instanceof BsonDocument ? operand.size : operand.length) > 0) {
      throw new QueryError(3040501, '$rand does not take arguments', { path: at });
    }
    return call('agg.rand', [], at);
  },
};
