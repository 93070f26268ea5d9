/** $zip. Arguments in turn: how many inputs, whether the longest decides (a literal each), the inputs, the defaults. */

import { isNullish, typeName } from '../../../bson/type.ts';
import { type BsonValue, Int32 } from '../../../bson/value.ts';
import { QueryError } from '../../../query-error.ts';
import { maxValueBytes, tooLarge } from '../../limits/size-limits.ts';
import type { Eager } from '../registry.ts';

export const arrayZip: Readonly<Record<string, Eager>> = {
  'agg.zip': (count, longest, ...values) => {
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
  },
};
