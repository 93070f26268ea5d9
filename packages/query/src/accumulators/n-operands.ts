/** The operands of $firstN, $lastN, $minN and $maxN; of $top, $bottom, $topN and $bottomN. */

import { compareValues } from '../bson/compare.ts';
import { describe } from '../bson/describe.ts';
import { isNumeric, typeName } from '../bson/type.ts';
import { BsonDocument, type BsonValue, type Maybe } from '../bson/value.ts';
import type { OperandContext } from '../functions/definition.ts';
import { type Fields, namedFields } from '../functions/named-fields.ts';
import { maxLong, toDouble } from '../functions/numbers/number.ts';
import { parseSortKeys } from '../mql/stages/sort.ts';
import { type Expr, literal } from '../plan/expr.ts';
import { QueryError } from '../query-error.ts';
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

/**
 * The `n` of $firstN and similar accumulators. @throws QueryError 5787902 if it is not a number, 5787903 if it is not whole, 5787908 if it
 * is not above 0.
 */
export function countOf(value: Maybe, name: string): number {
  if (!isNumeric(value)) throw new QueryError(5787902, `${name} needs a number for 'n', found ${typeName(value)}`);
  const count = toDouble(value);
  if (!Number.isInteger(count) || compareValues(value, maxLong) > 0) {
    throw new QueryError(5787903, `${name} needs a whole number of 64 bits for 'n', found ${count}`);
  }
  if (count <= 0) throw new QueryError(5787908, `${name} needs an 'n' above 0, found ${count}`);
  return count;
}
