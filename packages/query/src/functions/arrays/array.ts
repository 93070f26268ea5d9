import { describe } from '../../bson/describe.ts';
import { isNullish, typeName } from '../../bson/type.ts';
import { BsonDocument, type BsonValue, Int32, type Maybe } from '../../bson/value.ts';
import { maxValueBytes, tooLarge } from '../../execute/limits/size-limits.ts';
import { call, type Expr, literal } from '../../plan/expr.ts';
import { QueryError } from '../../query-error.ts';
import { anything, arrayOf, either, kindOf, maybeMissing, wholeNumbers } from '../../sql/types/kind.ts';
import { atLeast, eager, type Functions, type OperandContext } from '../definition.ts';
import { requireInt32 } from '../numbers/number.ts';

export const array: Functions = {
  'agg.array': eager(
    {
      sql: { gives: (items) => (items.length === 0 ? kindOf('array') : arrayOf(items.reduce(either))) },
      size: 'grows',
      neverFails: true,
      folding: 'early',
    },
    (...values) => values.map((value) => value ?? null),
  ),
  'agg.isArray': eager({ mql: 1, size: 'bounded', numberTypes: 'none' }, (value) => Array.isArray(value)),
  'agg.size': eager({ mql: 1, size: 'bounded', numberTypes: 'int' }, (value) => {
    if (!Array.isArray(value))
      throw new QueryError(17124, `the argument to $size must be an array, but was of type: ${typeName(value)}`);
    return new Int32(value.length);
  }),
  'agg.arrayElemAt': {
    mql: 2,
    sql: {
      takes: [['array'], wholeNumbers],
      gives: ([array]) => (array?.items === undefined ? anything : maybeMissing(array.items)),
    },
    size: 'bounded',
    numberTypes: (args) => args.slice(0, 1),
    eager: (value, index) => {
      if (isNullish(value) || isNullish(index)) return null;
      if (!Array.isArray(value))
        throw new QueryError(28689, `$arrayElemAt's first argument must be an array, but is ${typeName(value)}`);
      return value.at(requireInt32(index, 'the place that $arrayElemAt takes', 28691, 28690));
    },
  },
  'agg.first': eager({ mql: 1 }, (value) => endOf(value, '$first', 0)),
  'agg.last': eager({ mql: 1 }, (value) => endOf(value, '$last', -1)),
  'agg.slice': eager({ mql: [2, 3], size: 'grows' }, slice),
  'agg.concatArrays': eager({ mql: atLeast(0), size: 'grows' }, (...values) => {
    const all: BsonValue[] = [];
    for (const value of values) {
      if (isNullish(value)) return null;
      if (!Array.isArray(value)) throw new QueryError(28664, `$concatArrays only takes arrays, not ${typeName(value)}`);
      for (const item of value) all.push(item);
    }
    return all;
  }),
  'agg.reverseArray': eager({ mql: 1, size: 'grows' }, (value) => {
    if (isNullish(value)) return null;
    if (!Array.isArray(value))
      throw new QueryError(
        34435,
        `the argument to $reverseArray must be an array, but was of type: ${typeName(value)}`,
      );
    return value.toReversed();
  }),
};

/** Missing if the array is empty. */
function endOf(value: Maybe, name: string, index: 0 | -1): Maybe {
  if (isNullish(value)) return null;
  if (!Array.isArray(value))
    throw new QueryError(28689, `${name}'s argument must be an array, but is ${typeName(value)}`);
  return value.at(index);
}

export function slice(...args: Maybe[]): Maybe {
  const [value, second, third] = args;
  if (isNullish(value) || isNullish(second)) return null;
  if (!Array.isArray(value))
    throw new QueryError(28724, `the first argument to $slice must be an array, but is of type: ${typeName(value)}`);
  const first = requireInt32(second, 'the place or number that $slice takes', 28726, 28725);
  if (args.length === 2) return first >= 0 ? value.slice(0, first) : value.slice(first);
  if (isNullish(third)) return null;
  const count = requireInt32(third, 'the number that $slice takes', 28728, 28727);
  if (count <= 0) throw new QueryError(28729, `the third argument to $slice must be positive: ${count}`);
  const start = first < 0 ? Math.max(0, value.length + first) : first;
  return value.slice(start, start + count);
}

/** Minimum bytes of a number in the array; checked before the array is built. */
const bytesOfNumber = 24;

/** $range. */
export const arrayRange: Functions = {
  'agg.range': eager({ mql: [2, 3], size: 'grows', folding: 'never' }, (...args) => {
    const start = requireInt32(args[0], 'the starting value of $range', 34444, 34443);
    const end = requireInt32(args[1], 'the ending value of $range', 34446, 34445);
    const step = args.length > 2 ? requireInt32(args[2], 'the step value of $range', 34448, 34447) : 1;
    if (step === 0) throw new QueryError(34449, '$range requires a non-zero step value');
    const count = Math.max(0, Math.ceil((end - start) / step));
    if (count * bytesOfNumber > maxValueBytes) throw tooLarge();
    return Array.from({ length: count }, (_none, index) => new Int32(start + index * step));
  }),
};

/** $zip. Arguments in order: the number of inputs, whether the longest decides (both literals), the inputs, the defaults. */
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
