/** $sort: 1 and -1 for each path. */

import { decimalToNumber } from '../bson/decimal.ts';
import { toWholeDecimal } from '../bson/decimal-arithmetic.ts';
import { isNumeric } from '../bson/type.ts';
import { BsonDocument, type BsonValue, Decimal128 } from '../bson/value.ts';
import { toDouble } from '../execute/functions/number.ts';
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
  const keys = [...spec].flatMap(([name, direction]) => (isMeta(name, direction) ? [] : [parseKey(name, direction)]));
  if (keys.length > maxKeys) throw new QueryError(13103, `$sort takes at most ${maxKeys} fields, found ${keys.length}`);
  return keys;
}

/**
 * Order by what a stage before knows of a row. No stage here gives scores, and $sample's rows are in the order of theirs
 * already: such keys change nothing.
 */
function isMeta(name: string, direction: BsonValue): boolean {
  if (!(direction instanceof BsonDocument)) return false;
  if ([...direction.keys()][0] !== '$meta') {
    throw new QueryError(17312, `$sort of '${name}': the only object allowed is {$meta: …}`);
  }
  if (direction.size > 1) throw new QueryError('FailedToParse', `$sort of '${name}': {$meta: …} has no other fields`);
  const kind = direction.get('$meta');
  if (kind === 'textScore' || kind === 'geoNearDistance') {
    throw new QueryError(40218, `$sort of '${name}': no stage before gives ${kind}`, {
      hint: 'sort by the distanceField of $geoNear',
    });
  }
  if (kind === 'randVal' || kind === 'searchScore' || kind === 'vectorSearchScore' || kind === 'score') return true;
  throw new QueryError(31138, `$sort of '${name}': unknown {$meta: ${describe(kind)}}`);
}

function parseKey(name: string, direction: BsonValue): SortKey {
  if (!isNumeric(direction)) {
    throw new QueryError(
      15974,
      `$sort of '${name}' takes 1 (ascending) or -1 (descending), found ${describe(direction)}`,
    );
  }
  // Fractions are cut off, those of decimals rounded, as MongoDB does.
  const number =
    direction instanceof Decimal128
      ? decimalToNumber(toWholeDecimal(direction, 'halfEven'))
      : Math.trunc(toDouble(direction));
  if (number !== 1 && number !== -1) {
    throw new QueryError(
      15975,
      `$sort of '${name}' takes 1 (ascending) or -1 (descending), found ${describe(direction)}`,
    );
  }
  return { path: parseFieldPath(name), descending: number === -1 };
}
