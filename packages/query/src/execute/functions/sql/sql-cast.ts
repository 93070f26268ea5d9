/** Casts of SQL. A value that cannot be cast becomes null, the dialect's default. */

import { decimalParts } from '../../../bson/decimal.ts';
import { parseDecimal } from '../../../bson/parse-decimal.ts';
import { isNullish } from '../../../bson/type.ts';
import { Binary, BsonDate, BsonDocument, Decimal128, Int32, type Maybe, ObjectId } from '../../../bson/value.ts';
import { QueryError } from '../../../query-error.ts';
import { conversion } from '../conversion/convert.ts';
import type { Eager } from '../registry.ts';
import { textOf } from '../strings/value-text.ts';

export const sqlCast: Readonly<Record<string, Eager>> = {
  'sql.castString': (value) => (value instanceof Binary ? null : orNull(() => conversion['agg.toString']!(value))),
  'sql.castInt': (value) => orNull(() => conversion['agg.toInt']!(value)),
  'sql.castLong': (value) => orNull(() => conversion['agg.toLong']!(value)),
  'sql.castDouble': (value) => orNull(() => doubleOf(value)),
  'sql.castBool': (value) => orNull(() => conversion['agg.toBool']!(value)),
  'sql.castTimestamp': (value) =>
    // As in MongoDB, no date is made of an int32.
    value instanceof Int32 ? null : orNull(() => conversion['agg.toDate']!(value)),
  'sql.castDecimal': (value) => orNull(() => decimalOf(value)),
  'sql.castObjectId': (value) => {
    if (value instanceof ObjectId) return value;
    if (typeof value !== 'string' || !/^[\da-f]{24}$/i.test(value)) return null;
    return new ObjectId(Uint8Array.from(value.match(/../g)!, (pair) => Number.parseInt(pair, 16)));
  },
  'sql.castDocument': (value) => (value instanceof BsonDocument ? value : null),
  // Nothing but null can be cast to it.
  'sql.castNull': () => null,
  'sql.castArray': (value) => (Array.isArray(value) ? value : null),
};

function orNull(cast: () => Maybe): Maybe {
  try {
    return cast() ?? null;
  } catch (error) {
    if (error instanceof QueryError) return null;
    throw error;
  }
}

/** A decimal beyond all doubles is none. */
function doubleOf(value: Maybe): Maybe {
  const double = conversion['agg.toDouble']!(value);
  const beyond = value instanceof Decimal128 && typeof double === 'number' && !Number.isFinite(double);
  return beyond && decimalParts(value).kind === 'finite' ? null : double;
}

function decimalOf(value: Maybe): Maybe {
  if (isNullish(value)) return null;
  const convert = conversion['agg.toDecimal'];
  if (convert !== undefined) return convert(value);
  if (value instanceof Decimal128) return value;
  if (value instanceof BsonDate) return parseDecimal(String(value.ms));
  if (typeof value === 'boolean') return parseDecimal(value ? '1' : '0');
  const isNumber = typeof value === 'number' || typeof value === 'bigint' || value instanceof Int32;
  return isNumber || typeof value === 'string' ? parseDecimal(textOf(value) ?? '') : null;
}
