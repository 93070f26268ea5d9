/** All functions of expressions. */

import { fold } from './accumulators.ts';
import { array, arrayRange, arrayZip } from './arrays/array.ts';
import { arraySearch } from './arrays/array-search.ts';
import { arraySort } from './arrays/array-sort.ts';
import { set } from './arrays/set.ts';
import { conversion } from './conversion/convert.ts';
import { dataSize } from './conversion/data-size.ts';
import { hashedKey } from './conversion/hashed-key.ts';
import { dateDiffFunctions, dateShiftFunctions } from './dates/date-arithmetic.ts';
import { dateFormatFunctions } from './dates/date-format.ts';
import { dateFromPartsFunctions } from './dates/date-from-parts.ts';
import { dateFromStringFunctions } from './dates/date-from-string.ts';
import { dateParts, timestamp } from './dates/date-parts.ts';
import { dateTruncFunctions } from './dates/date-trunc.ts';
import type { FunctionDefinition, Functions } from './definition.ts';
import { boolean, comparison, conditional } from './logic.ts';
import { meta } from './meta.ts';
import { arithmetic } from './numbers/arithmetic.ts';
import { bits, rand } from './numbers/bits.ts';
import { logarithms } from './numbers/logarithms.ts';
import { rounding } from './numbers/rounding.ts';
import { trigonometry } from './numbers/trigonometry.ts';
import { object } from './object.ts';
import { sqlCast } from './sql/sql-cast.ts';
import { sqlConditions } from './sql/sql-conditions.ts';
import { sqlNumber } from './sql/sql-number.ts';
import { sqlRows } from './sql/sql-rows.ts';
import { sqlText } from './sql/sql-text.ts';
import { regex } from './strings/regex.ts';
import { string, substring } from './strings/string.ts';
import { stringSearch } from './strings/string-search.ts';
import { stringTrim } from './strings/string-trim.ts';
import { variables } from './variables.ts';

const definitions: Functions = {
  ...array,
  ...arrayRange,
  ...arraySearch,
  ...arraySort,
  ...arrayZip,
  ...set,
  ...boolean,
  ...comparison,
  ...conditional,
  ...conversion,
  ...dataSize,
  ...hashedKey,
  ...dateParts,
  ...dateTruncFunctions,
  ...dateDiffFunctions,
  ...dateShiftFunctions,
  ...dateFromPartsFunctions,
  ...dateFormatFunctions,
  ...dateFromStringFunctions,
  ...timestamp,
  ...fold,
  ...meta,
  ...arithmetic,
  ...bits,
  ...logarithms,
  ...rand,
  ...rounding,
  ...trigonometry,
  ...object,
  ...sqlCast,
  ...sqlConditions,
  ...sqlNumber,
  ...sqlRows,
  ...sqlText,
  ...regex,
  ...string,
  ...stringSearch,
  ...stringTrim,
  ...substring,
  ...variables,
};

/** By their names in plans. */
export const functions: ReadonlyMap<string, FunctionDefinition> = new Map(Object.entries(definitions));

/** The operators of MQL by name with the dollar: the name in plans and the definition. */
export const operators: ReadonlyMap<string, { readonly fn: string; readonly definition: FunctionDefinition }> = new Map(
  [...functions].flatMap(([fn, definition]) =>
    definition.mql === undefined ? [] : [[`$${fn.replace(/^agg\./, '')}`, { fn, definition }]],
  ),
);
