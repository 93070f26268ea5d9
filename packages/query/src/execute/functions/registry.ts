/** All functions of expressions by name. Eager ones get values; lazy ones get closures, since they may leave some unevaluated. */

import type { Maybe } from '../../bson/value.ts';
import type { Evaluate } from '../expressions/scope.ts';
import { array } from './arrays/array.ts';
import { arrayRange } from './arrays/array-range.ts';
import { arraySearch } from './arrays/array-search.ts';
import { arraySort } from './arrays/array-sort.ts';
import { arrayZip } from './arrays/array-zip.ts';
import { set, setLazy } from './arrays/set.ts';
import { boolean } from './boolean.ts';
import { comparison } from './comparison.ts';
import { conditional } from './conditional.ts';
import { conversion, conversionLazy } from './conversion/convert.ts';
import { dataSize } from './conversion/data-size.ts';
import { hashedKey } from './conversion/hashed-key.ts';
import { date, dateLazy } from './dates/date.ts';
import { timestamp } from './dates/timestamp.ts';
import { fold } from './fold.ts';
import { arithmetic } from './numbers/arithmetic.ts';
import { bits } from './numbers/bits.ts';
import { logarithms } from './numbers/logarithms.ts';
import { randWith } from './numbers/rand.ts';
import { rounding } from './numbers/rounding.ts';
import { trigonometry } from './numbers/trigonometry.ts';
import { object } from './object.ts';
import { sql, sqlLazy } from './sql/sql.ts';
import { regex } from './strings/regex.ts';
import { string } from './strings/string.ts';
import { stringSearch } from './strings/string-search.ts';
import { stringTrim } from './strings/string-trim.ts';
import { substring } from './strings/substring.ts';

export type Eager = (...values: Maybe[]) => Maybe;
export type Lazy = (args: readonly Evaluate[]) => Evaluate;

export const eagerFunctions: Readonly<Record<string, Eager>> = {
  ...arithmetic,
  ...rounding,
  ...logarithms,
  ...trigonometry,
  ...timestamp,
  ...bits,
  ...randWith(),
  ...comparison,
  ...string,
  ...stringSearch,
  ...stringTrim,
  ...substring,
  ...conversion,
  ...array,
  ...arrayRange,
  ...arraySort,
  ...arrayZip,
  ...dataSize,
  ...fold,
  ...hashedKey,
  ...object,
  ...set,
  ...date,
  ...sql,
};

export const lazyFunctions: Readonly<Record<string, Lazy>> = {
  ...arraySearch,
  ...boolean,
  ...conditional,
  ...regex,
  ...setLazy,
  ...conversionLazy,
  ...dateLazy,
  ...sqlLazy,
};
