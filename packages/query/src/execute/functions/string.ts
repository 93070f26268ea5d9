/** $concat, $toUpper, $toLower, $substrCP, $strLenCP; lengths and places count code points. */

import { isNullish, isNumeric, typeName } from '../../bson/type.ts';
import { Int32, type Maybe } from '../../bson/value.ts';
import { QueryError } from '../../query-error.ts';
import { maxValueBytes, tooLarge } from '../built.ts';
import { shortDoubleText, textOf } from './convert.ts';
import { plainNumber } from './number.ts';
import type { Eager } from './registry.ts';

export const string: Readonly<Record<string, Eager>> = {
  'agg.concat': (...values) => {
    let text = '';
    for (const value of values) {
      if (isNullish(value)) return null;
      if (typeof value === 'string') text += value;
      else throw new QueryError(16702, `$concat only supports strings, not ${typeName(value)}`);
      if (text.length > maxValueBytes) throw tooLarge();
    }
    return text;
  },
  // Only ASCII letters change, as in MongoDB.
  'agg.toUpper': (value) => coerced(value, '$toUpper').replace(/[a-z]+/g, (letters) => letters.toUpperCase()),
  'agg.toLower': (value) => coerced(value, '$toLower').replace(/[A-Z]+/g, (letters) => letters.toLowerCase()),
  'agg.strLenCP': (value) => {
    if (typeof value !== 'string')
      throw new QueryError(34471, `$strLenCP requires a string argument, found: ${typeName(value)}`);
    let length = 0;
    for (const _ of value) length++;
    return new Int32(length);
  },
  'agg.substrCP': (value, start, length) => {
    const from = place(start, 'starting index', 34450, 34451, 34455);
    const count = place(length, 'length', 34452, 34453, 34454);
    const text = coerced(value, '$substrCP');
    return Array.from(text)
      .slice(from, from + count)
      .join('');
  },
};

function place(value: Maybe, what: string, notNumber: number, notWhole: number, negative: number): number {
  if (!isNumeric(value))
    throw new QueryError(notNumber, `$substrCP: the ${what} must be a number, found ${typeName(value)}`);
  const number = Number(plainNumber(value, '$substrCP', notNumber));
  if (number !== (number | 0))
    throw new QueryError(notWhole, `$substrCP: the ${what} must be a 32-bit whole number, found ${number}`);
  if (number < 0) throw new QueryError(negative, `$substrCP: the ${what} must not be negative, found ${number}`);
  return number;
}

/** Numbers, dates and the like as text, nothing as the empty text. */
function coerced(value: Maybe, name: string): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return shortDoubleText(value);
  if (isNullish(value)) return '';
  const type = typeName(value);
  const text = ['int', 'long', 'double', 'decimal', 'date', 'symbol', 'javascript', 'timestamp'].includes(type)
    ? textOf(value)
    : undefined;
  if (text === undefined) throw new QueryError(16007, `${name}: can't convert from ${type} to a string`);
  return text;
}
