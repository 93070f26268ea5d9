/** The operands of $firstN, $lastN, $minN and $maxN; of $top, $bottom, $topN and $bottomN. */

import { describe } from '../bson/describe.ts';
import { BsonDocument, type BsonValue } from '../bson/value.ts';
import type { OperandContext } from '../functions/definition.ts';
import { type Fields, namedFields } from '../functions/named-fields.ts';
import { parseSortKeys } from '../mql/stages/sort.ts';
import { type Expr, literal } from '../plan/expr.ts';
import { QueryError } from '../query-error.ts';
import { countOf } from './count-of.ts';
import type { ParseAccumulator } from './definition.ts';

/** The operand of $firstN, $lastN, $minN and $maxN, as accumulators and as expressions. */
export const inputFields: Fields = {
  required: { n: 5787906, input: 5787907 },
  notObject: 5787900,
  unknown: 5787901,
};

export function parseInput(fn: string): ParseAccumulator {
  return (operand, context) => {
    const given = namedFields(operand, inputFields);
    const n = parseCount(given.get('n')!, fn, context);
    return { fn, n, arg: context.parse(given.get('input')!, `${context.at}.input`) };
  };
}

/** @param many whether the operand has `n`, a number of rows. */
export function parseOrdered(fn: string, many: boolean): ParseAccumulator {
  return (operand, context) => {
    const { at, parse } = context;
    const given = namedFields(operand, {
      required: { ...(many && { n: 5788003 }), output: 5788004, sortBy: 5788005 },
      notObject: 5788001,
      unknown: 5788002,
    });
    const sortBy = given.get('sortBy')!;
    if (!(sortBy instanceof BsonDocument)) {
      throw new QueryError(10065, `$${fn} takes an object for 'sortBy', found ${describe(sortBy)}`);
    }
    const by = parseSortKeys(sortBy);
    const arg = parse(given.get('output')!, `${at}.output`);
    return many ? { fn, arg, by, n: parseCount(given.get('n')!, fn, context) } : { fn, arg, by };
  };
}

/** Checks a constant now. A count that depends on the group key is checked for each group. */
function parseCount(value: BsonValue, fn: string, { at, parse, constant: constantOf }: OperandContext): Expr {
  const expr = parse(value, `${at}.n`);
  const constant = constantOf(expr);
  if (constant === undefined) return expr;
  countOf(constant.value, `$${fn}`);
  return literal(constant.value);
}
