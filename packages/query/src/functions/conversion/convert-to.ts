/** Converts a value to another type. */

import { isNumeric, type TypeName, typeName } from '../../bson/type.ts';
import { Binary, BsonDate, Decimal128, Int32, type Maybe, ObjectId, Timestamp } from '../../bson/value.ts';
import { isTruthy } from '../../execute/expressions/truth.ts';
import { parseDate } from '../dates/date-text.ts';
import { millisecondsOf } from '../dates/date-value.ts';
import { exactWhole, maxLong, minLong } from '../numbers/number.ts';
import { textOf } from '../strings/value-text.ts';
import { binaryToText, type Format, fromHex, numberToBinary, sameBinary, textToBinary } from './convert-binary.ts';
import { failure } from './convert-failure.ts';
import { type NumberOptions, toDecimal, toDouble, toInt, toLong } from './convert-number.ts';

export interface ConvertOptions extends NumberOptions {
  readonly format: Format | undefined;
  readonly subtype: number;
}

/** @throws QueryError ConversionFailure and the errors of formats and years */
export function convertTo(type: TypeName, value: Maybe, options: ConvertOptions): Maybe {
  switch (type) {
    case 'int':
      return toInt(value, options);
    case 'long':
      return toLong(value, options);
    case 'double':
      return toDouble(value, options);
    case 'decimal':
      return toDecimal(value, options);
    case 'bool':
      return typeof value === 'number' ? value !== 0 : isTruthy(value);
    case 'string':
      return toText(value, options);
    case 'date':
      return toDate(value);
    case 'objectId':
      return toObjectId(value);
    case 'binData':
      return toBinary(value, options);
    default:
      throw failure(value, type);
  }
}

const textual: ReadonlySet<TypeName> = new Set([
  'string',
  'double',
  'int',
  'long',
  'decimal',
  'bool',
  'date',
  'objectId',
]);

function toText(value: Maybe, { format, base }: ConvertOptions): string {
  if (value instanceof Binary) return binaryToText(value, format);
  const text = textual.has(typeName(value)) ? textOf(value) : undefined;
  if (text === undefined) throw failure(value, 'string');
  if (base === undefined || !isNumeric(value)) return text;
  const whole = exactWhole(value);
  if (whole === undefined || whole < minLong || whole > maxLong) {
    throw failure(value, 'string', 'with a base, only whole numbers of 64 bits are converted');
  }
  return whole.toString(base).toUpperCase();
}

function toDate(value: Maybe): BsonDate {
  if (value instanceof BsonDate) return value;
  if (value instanceof Timestamp || value instanceof ObjectId) return new BsonDate(millisecondsOf(value, 16006));
  if (typeof value === 'string') {
    const ms = parseDate(value);
    if (ms === undefined) throw failure(value, 'date', 'expected ISO 8601, e.g. 2026-01-31T12:00:00Z');
    return new BsonDate(ms);
  }
  if (typeof value !== 'number' && typeof value !== 'bigint' && !(value instanceof Decimal128))
    throw failure(value, 'date');
  return new BsonDate(Number(toLong(value, { littleEndian: true, base: undefined })));
}

function toObjectId(value: Maybe): ObjectId {
  if (value instanceof ObjectId) return value;
  if (typeof value !== 'string') throw failure(value, 'objectId');
  if (!/^[\da-f]{24}$/i.test(value)) throw failure(value, 'objectId', 'expected 24 hexadecimal digits');
  return new ObjectId(fromHex(value));
}

function toBinary(value: Maybe, { subtype, format, littleEndian }: ConvertOptions): Binary {
  if (typeof value === 'string') return textToBinary(value, subtype, format);
  if (value instanceof Int32 || typeof value === 'bigint' || typeof value === 'number') {
    return numberToBinary(value, subtype, littleEndian);
  }
  return sameBinary(value, subtype);
}
