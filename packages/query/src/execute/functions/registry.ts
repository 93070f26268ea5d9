/** All functions of expressions by name. Eager ones get values; lazy ones get closures, since they may leave some unevaluated. */

import type { Maybe } from '../../bson/value.ts';
import type { Evaluate } from '../scope.ts';
import { arithmetic } from './arithmetic.ts';
import { array } from './array.ts';
import { arrayRange } from './array-range.ts';
import { arraySearch } from './array-search.ts';
import { arraySort } from './array-sort.ts';
import { arrayZip } from './array-zip.ts';
import { bits } from './bits.ts';
import { boolean } from './boolean.ts';
import { comparison } from './comparison.ts';
import { conditional } from './conditional.ts';
import { conversion, conversionLazy } from './convert.ts';
import { dataSize } from './data-size.ts';
import { date, dateLazy } from './date.ts';
import { fold } from './fold.ts';
import { hashedKey } from './hashed-key.ts';
import { logarithms } from './logarithms.ts';
import { object } from './object.ts';
import { randWith } from './rand.ts';
import { regex } from './regex.ts';
import { rounding } from './rounding.ts';
import { set, setLazy } from './set.ts';
import { sql, sqlLazy } from './sql.ts';
import { string } from './string.ts';
import { stringSearch } from './string-search.ts';
import { stringTrim } from './string-trim.ts';
import { substring } from './substring.ts';
import { timestamp } from './timestamp.ts';
import { trigonometry } from './trigonometry.ts';

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
