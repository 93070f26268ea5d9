/** SQL casts. A value that cannot be cast becomes null, the dialect's default. */

import { decimalParts } from '../../bson/decimal.ts';
import { Binary, BsonDocument, Decimal128, Int32, type Maybe, ObjectId } from '../../bson/value.ts';
import { QueryError } from '../../query-error.ts';
import { booleans, kindOf } from '../../sql/types/kind.ts';
import { textOrNull } from '../../sql/types/signature.ts';
import { converted } from '../conversion/convert.ts';
import { fromHex } from '../conversion/convert-binary.ts';
import { eager, type Functions } from '../definition.ts';

export const sqlCast: Functions = {
  'sql.castString': eager({ sql: { gives: textOrNull }, size: 'grows', numberTypes: 'none' }, (value) =>
    value instanceof Binary ? null : orNull(() => converted(value, 'string')),
  ),
  'sql.castInt': eager({ sql: { gives: kindOf('int', 'null') }, size: 'bounded' }, (value) =>
    orNull(() => converted(value, 'int')),
  ),
  'sql.castLong': eager({ sql: { gives: kindOf('long', 'null') }, size: 'bounded', folding: 'early' }, castLong),
  'sql.castDouble': eager({ sql: { gives: kindOf('double', 'null') }, size: 'bounded' }, (value) =>
    orNull(() => doubleOf(value)),
  ),
  'sql.castBool': eager({ sql: { gives: booleans }, size: 'bounded' }, (value) =>
    orNull(() => converted(value, 'bool')),
  ),
  'sql.castTimestamp': eager({ sql: { gives: kindOf('date', 'null') }, size: 'bounded', folding: 'early' }, (value) =>
    // As in MongoDB, an int32 cannot become a date.
    value instanceof Int32 ? null : orNull(() => converted(value, 'date')),
  ),
  'sql.castDecimal': eager({ sql: { gives: kindOf('decimal', 'null') } }, (value) =>
    orNull(() => converted(value, 'decimal')),
  ),
  'sql.castObjectId': eager({ sql: { gives: kindOf('objectId', 'null') } }, (value) => {
    if (value instanceof ObjectId) return value;
    if (typeof value !== 'string' || !/^[\da-f]{24}$/i.test(value)) return null;
    return new ObjectId(fromHex(value));
  }),
  'sql.castDocument': eager({ sql: { gives: { types: new Set(['object', 'null']), open: true } } }, (value) =>
    value instanceof BsonDocument ? value : null,
  ),
  // Only null can be cast to it.
  'sql.castNull': eager({ sql: { gives: kindOf('null') } }, () => null),
  'sql.castArray': eager({ sql: { gives: kindOf('array', 'null') } }, (value) => (Array.isArray(value) ? value : null)),
};

export function castLong(value: Maybe): Maybe {
  return orNull(() => converted(value, 'long'));
}

function orNull(cast: () => Maybe): Maybe {
  try {
    return cast() ?? null;
  } catch (error) {
    if (error instanceof QueryError) return null;
    throw error;
  }
}

/** Null for a decimal beyond all doubles. */
function doubleOf(value: Maybe): Maybe {
  const double = converted(value, 'double');
  const beyond = value instanceof Decimal128 && typeof double === 'number' && !Number.isFinite(double);
  return beyond && decimalParts(value).kind === 'finite' ? null : double;
}
