/** $bsonSize and $binarySize: the size in bytes of a document as BSON, and of a binary value or a text. */

import { encodeBson } from '../../bson/encode.ts';
import { isNullish, typeName } from '../../bson/type.ts';
import { Binary, BsonDocument, Int32 } from '../../bson/value.ts';
import { QueryError } from '../../query-error.ts';
import { eager, type Functions } from '../definition.ts';
import { utf8Length } from '../strings/code-points.ts';

export const dataSize: Functions = {
  'agg.bsonSize': eager({ mql: 1 }, (value) => {
    if (isNullish(value)) return null;
    if (!(value instanceof BsonDocument))
      throw new QueryError(31393, `$bsonSize requires a document input, found: ${typeName(value)}`);
    return new Int32(encodeBson(value).length);
  }),
  'agg.binarySize': eager({ mql: 1 }, (value) => {
    if (isNullish(value)) return null;
    if (typeof value === 'string') return new Int32(utf8Length(value));
    if (value instanceof Binary) return new Int32(value.bytes.length);
    throw new QueryError(51276, `$binarySize requires a string or binData, found: ${typeName(value)}`);
  }),
};
