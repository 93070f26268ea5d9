/** $zip. Arguments in order: the number of inputs, whether the longest decides (both literals), the inputs, the defaults. */

import { describe } from '../../bson/describe.ts';
import { isNullish, typeName } from '../../bson/type.ts';
import { BsonDocument, type BsonValue, Int32 } from '../../bson/value.ts';
import { maxValueBytes, tooLarge } from '../../execute/limits/size-limits.ts';
import { call, type Expr, literal } from '../../plan/expr.ts';
import { QueryError } from '../../query-error.ts';
import { eager, type Functions, type OperandContext } from '../definition.ts';

export const arrayZip: Functions = {
  'agg.zip': eager({ mql: parseZip, size: 'grows' }, (count, longest, ...values) => {
    const width = count instanceof Int32 ? count.value : 0;
    const inputs: BsonValue[][] = [];
    for (const value of values.slice(0, width)) {
      if (isNullish(value)) return null;
      if (!Array.isArray(value)) throw new QueryError(34468, `$zip found a non-array input: ${typeName(value)}`);
      inputs.push(value);
    }
    const defaults = values.slice(width);
    const lengths = inputs.map((input) => input.length);
    const rows = longest === true ? Math.max(...lengths) : Math.min(...lengths);
    if (rows * width * 8 > maxValueBytes) throw tooLarge();
    return Array.from({ length: rows }, (_none, row) =>
      inputs.map((input, column) => (row < input.length ? input[row]! : (defaults[column] ?? null))),
    );
  }),
};

function parseZip(operand: BsonValue, { at, parse }: OperandContext): Expr {
  if (!(operand instanceof BsonDocument))
    throw new QueryError(34460, `$zip takes an object, found ${describe(operand)}`);
  let inputs: BsonValue[] = [];
  let defaults: BsonValue[] = [];
  let longest = false;
  for (const [name, value] of operand) {
    if (name === 'inputs') {
      if (!Array.isArray(value))
        throw new QueryError(34461, `inputs must be an array of expressions, found ${describe(value)}`);
      inputs = value;
    } else if (name === 'defaults') {
      if (!Array.isArray(value))
        throw new QueryError(34462, `defaults must be an array of expressions, found ${describe(value)}`);
      defaults = value;
    } else if (name === 'useLongestLength') {
      if (typeof value !== 'boolean')
        throw new QueryError(34463, `useLongestLength must be a bool, found ${describe(value)}`);
      longest = value;
    } else throw new QueryError(34464, `$zip found an unknown argument: ${name}`);
  }
  if (inputs.length === 0) throw new QueryError(34465, '$zip requires at least one input array');
  if (!longest && defaults.length > 0) throw new QueryError(34466, 'defaults need useLongestLength to be true');
  if (defaults.length > 0 && defaults.length !== inputs.length)
    throw new QueryError(
      34467,
      `defaults and inputs must have the same length, found ${defaults.length} and ${inputs.length}`,
    );
  const values = [...inputs, ...defaults].map((value) => parse(value));
  return call('agg.zip', [literal(new Int32(inputs.length)), literal(longest), ...values], at);
}
