/** Converts the other types that string functions accept to texts. */

import { isNullish, typeName } from '../../bson/type.ts';
import { type Maybe, Timestamp } from '../../bson/value.ts';
import { QueryError } from '../../query-error.ts';
import { shortDoubleText, textOf } from './value-text.ts';

/** Numbers, dates and similar as text, null as the empty text. @throws QueryError 16007 for all others */
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
