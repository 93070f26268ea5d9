/** $tsSecond and $tsIncrement: the two halves of a timestamp. */

import { isNullish, typeName } from '../../bson/type.ts';
import { type Maybe, Timestamp } from '../../bson/value.ts';
import { QueryError } from '../../query-error.ts';
import { eager, type Functions } from '../definition.ts';

export const timestamp: Functions = {
  'agg.tsSecond': eager({ mql: 1 }, (value) => half(value, '$tsSecond', 5687301, (bits) => bits >> 32n)),
  'agg.tsIncrement': eager({ mql: 1 }, (value) => half(value, '$tsIncrement', 5687302, (bits) => bits & 0xffffffffn)),
};

function half(value: Maybe, name: string, code: number, read: (bits: bigint) => bigint): Maybe {
  if (isNullish(value)) return null;
  if (value instanceof Timestamp) return read(BigInt.asUintN(64, value.value));
  throw new QueryError(code, `${name} takes a timestamp, found ${typeName(value)}`);
}
