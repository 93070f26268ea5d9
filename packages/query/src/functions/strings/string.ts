/** $concat, $toUpper, $toLower, $strcasecmp, $strLenCP, $strLenBytes. */
import { compareText } from '../../bson/compare.ts';
import { isNullish, typeName } from '../../bson/type.ts';
import { Int32, type Maybe, Timestamp } from '../../bson/value.ts';
import { maxValueBytes, tooLarge } from '../../execute/limits/size-limits.ts';
import { QueryError } from '../../query-error.ts';
import { atLeast, eager, type Functions } from '../definition.ts';
import { countCodePoints, utf8Length } from './code-points.ts';
import { shortDoubleText, textOf } from './value-text.ts';

export const string: Functions = {
  'agg.concat': eager({ mql: atLeast(0), size: 'grows', folding: 'early', numberTypes: 'none' }, (...values) => {
    let text = '';
    for (const value of values) {
      if (isNullish(value)) return null;
      if (typeof value === 'string') text += value;
      else throw new QueryError(16702, `$concat only supports strings, not ${typeName(value)}`);
      if (text.length > maxValueBytes) throw tooLarge();
    }
    return text;
  }),
  'agg.toUpper': eager({ mql: 1, size: 'grows', numberTypes: 'none' }, (value) => upper(coerced(value, '$toUpper'))),
  'agg.toLower': eager({ mql: 1, size: 'grows', numberTypes: 'none' }, (value) => lower(coerced(value, '$toLower'))),
  'agg.strcasecmp': eager({ mql: 2 }, (left, right) => {
    const [a, b] = [coerced(left, '$strcasecmp'), coerced(right, '$strcasecmp')];
    return new Int32(Math.sign(compareText(upper(a), upper(b))));
  }),
  'agg.strLenCP': eager({ mql: 1, numberTypes: 'int' }, (value) => {
    if (typeof value !== 'string')
      throw new QueryError(34471, `$strLenCP requires a string argument, found: ${typeName(value)}`);
    return new Int32(countCodePoints(value, 0, value.length));
  }),
  'agg.strLenBytes': eager({ mql: 1, numberTypes: 'int' }, (value) => {
    if (typeof value !== 'string')
      throw new QueryError(34473, `$strLenBytes requires a string argument, found: ${typeName(value)}`);
    return new Int32(utf8Length(value));
  }),
};

/** Only ASCII letters change, as in MongoDB. */
export function upper(text: string): string {
  return text.replace(/[a-z]+/g, (letters) => letters.toUpperCase());
}

export function lower(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/**
 * Converts the other types that string functions accept to texts. Numbers, dates and similar as text, null as the empty text. @throws
 * QueryError 16007 for all others
 */
export function coerced(value: Maybe, name: string): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return Object.is(value, -0) ? '-0' : shortDoubleText(value);
  if (isNullish(value)) return '';
  if (value instanceof Timestamp) return timestampText(value);
  const type = typeName(value);
  const text = ['int', 'long', 'double', 'decimal', 'date', 'symbol', 'javascript'].includes(type)
    ? textOf(value)
    : undefined;
  if (text === undefined) throw new QueryError(16007, `${name}: can't convert from ${type} to a string`);
  return text;
}

const months = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');

/** Day and time without a year, and the ordinal: `Jul  2 18:40:00:1`. */
function timestampText({ value }: Timestamp): string {
  const date = new Date(Number(value >> 32n) * 1000);
  const day = String(date.getUTCDate()).padStart(2);
  return `${months[date.getUTCMonth()]} ${day} ${date.toISOString().slice(11, 19)}:${value & 0xffffffffn}`;
}
