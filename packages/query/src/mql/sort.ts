/** $sort: 1 and -1 for each path. */

import { decimalToNumber } from '../bson/decimal.ts';
import { isNumeric } from '../bson/type.ts';
import { BsonDocument, type BsonValue, Decimal128, Int32 } from '../bson/value.ts';
import type { SortKey, Stage } from '../plan/stage.ts';
import { QueryError } from '../query-error.ts';
import { describe } from './describe.ts';
import { parseFieldPath } from './path.ts';

const maxKeys = 32;

export function parseSort(spec: BsonValue): Stage {
  if (!(spec instanceof BsonDocument)) throw new QueryError(15973, `$sort takes an object, found ${describe(spec)}`);
  return { k: 'sort', by: parseSortKeys(spec) };
}

/** @throws QueryError 15974, 15975, 15976 and those of paths. */
export function parseSortKeys(spec: BsonDocument): readonly SortKey[] {
  if (spec.size === 0) throw new QueryError(15976, '$sort needs at least one field to sort by');
  if (spec.size > maxKeys) throw new QueryError(13103, `$sort takes at most ${maxKeys} fields, found ${spec.size}`);
  return [...spec].map(([name, direction]) => parseKey(name, direction));
}

function parseKey(name: string, direction: BsonValue): SortKey {
  if (direction instanceof BsonDocument) {
    if (!direction.has('$meta'))
      throw new QueryError(17312, `$sort of '${name}': the only object allowed is {$meta: …}`);
    throw new QueryError(31138, `$sort of '${name}': {$meta: …} needs a text index, which this platform does not have`);
  }
  if (!isNumeric(direction)) {
    throw new QueryError(
      15974,
      `$sort of '${name}' takes 1 (ascending) or -1 (descending), found ${describe(direction)}`,
    );
  }
  // Fractions are cut off, those of decimals rounded, as MongoDB does.
  const number =
    direction instanceof Decimal128
      ? Math.round(decimalToNumber(direction))
      : Math.trunc(Number(direction instanceof Int32 ? direction.value : direction));
  if (number !== 1 && number !== -1) {
    throw new QueryError(
      15975,
      `$sort of '${name}' takes 1 (ascending) or -1 (descending), found ${describe(direction)}`,
    );
  }
  return { path: parseFieldPath(name), descending: number === -1 };
}
