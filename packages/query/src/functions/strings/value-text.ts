/** Values as text: in full as $toString gives them, and short as in string functions. */

import { decimalText } from '../../bson/decimal.ts';
import { BsonDate, BsonSymbol, Code, Decimal128, Int32, type Maybe, ObjectId, Timestamp } from '../../bson/value.ts';
import { isoText } from '../dates/date-format.ts';
import { secondsOf } from '../dates/date-value.ts';
import { utc } from '../dates/time-zone.ts';

/** Text of a double as MongoDB prints it. */
export function doubleText(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? 'Infinity' : '-Infinity';
  if (Object.is(value, -0)) return '-0';
  return scientific(value, 16) ?? String(value);
}

/** With an exponent of at least two digits, if the number is below 1e-4 or has more digits before the point than `most`. */
function scientific(value: number, most: number): string | undefined {
  const [mantissa, exponent] = value.toExponential().split('e');
  const power = Number(exponent);
  if (value === 0 || (power >= -4 && power < most)) return undefined;
  return `${mantissa}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`;
}

/** Text of a double with six digits, as string functions (not $toString) print it. */
export function shortDoubleText(value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'nan' : value > 0 ? 'inf' : '-inf';
  const rounded = Number(value.toPrecision(6));
  return scientific(rounded, 6) ?? doubleText(rounded);
}

/** Text of values that have one; undefined for others. */
export function textOf(value: Maybe): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return doubleText(value);
  if (typeof value === 'bigint' || typeof value === 'boolean') return String(value);
  if (value instanceof Int32) return String(value.value);
  if (value instanceof Decimal128) return decimalText(value);
  if (value instanceof BsonDate) return isoText(value.ms, utc);
  if (value instanceof ObjectId) return value.toHex();
  if (value instanceof BsonSymbol) return value.value;
  if (value instanceof Code) return value.code;
  if (value instanceof Timestamp) return isoText(secondsOf(value) * 1000, utc);
  return undefined;
}
