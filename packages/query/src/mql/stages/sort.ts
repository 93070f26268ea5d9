/** $sort: 1 and -1 for each path. */

import { decimalToNumber } from '../../bson/decimal.ts';
import { toWholeDecimal } from '../../bson/decimal-arithmetic.ts';
import { describe } from '../../bson/describe.ts';
import { isNumeric } from '../../bson/type.ts';
import { BsonDocument, type BsonValue, Decimal128 } from '../../bson/value.ts';
import { toDouble } from '../../functions/numbers/number.ts';
import { near } from '../../plan/expr.ts';
import type { SortKey } from '../../plan/sort-key.ts';
import type { ShapeLeaf, ShapeTree, Stage } from '../../plan/stage.ts';
import { malformed, QueryError } from '../../query-error.ts';
import { parseFieldPath } from '../path.ts';

const maxKeys = 32;

/** A field for the duration of the sort, with a name that rows from outside cannot have. */
const nearField = '\u0001near';

export function parseSort(spec: BsonValue): readonly Stage[] {
  if (!(spec instanceof BsonDocument)) throw new QueryError(15973, `$sort takes an object, found ${describe(spec)}`);
  const sort: Stage = { k: 'sort', by: parseSortKeys(spec, [{ path: [nearField], descending: false }]) };
  if (!sort.by.some(({ path }) => path[0] === nearField)) return [sort];
  const fields = (leaf: ShapeLeaf): ShapeTree => ({ k: 'tree', fields: [[nearField, leaf]] });
  return [
    { k: 'shape', mode: 'set', tree: fields({ k: 'set', value: near('distance') }) },
    sort,
    { k: 'shape', mode: 'exclude', tree: fields({ k: 'drop' }) },
  ];
}

/** @param byNear the keys that `{$meta: 'geoNearDistance'}` sorts by. @throws QueryError 15974, 15975, 15976 and those of paths. */
export function parseSortKeys(spec: BsonDocument, byNear?: readonly SortKey[]): readonly SortKey[] {
  if (spec.size === 0) throw new QueryError(15976, '$sort needs at least one field to sort by');
  const keys = [...spec].flatMap(
    ([name, direction]) => metaKeys(name, direction, byNear) ?? [parseKey(name, direction)],
  );
  if (keys.length > maxKeys) throw new QueryError(13103, `$sort takes at most ${maxKeys} fields, found ${keys.length}`);
  return keys;
}

/**
 * Order by what a previous stage knows about a row. No stage here gives scores, and the rows of $sample are already in the order of theirs:
 * such keys change nothing. Undefined for other keys.
 */
function metaKeys(
  name: string,
  direction: BsonValue,
  byNear: readonly SortKey[] | undefined,
): readonly SortKey[] | undefined {
  if (!(direction instanceof BsonDocument)) return undefined;
  if ([...direction.keys()][0] !== '$meta') {
    throw new QueryError(17312, `$sort of '${name}': the only object allowed is {$meta: …}`);
  }
  if (direction.size > 1) throw malformed(`$sort of '${name}': {$meta: …} has no other fields`);
  const kind = direction.get('$meta');
  if (kind === 'geoNearDistance' && byNear !== undefined) return byNear;
  if (kind === 'textScore' || kind === 'geoNearDistance') {
    throw new QueryError(40218, `$sort of '${name}': no stage before gives ${kind}`, {
      hint: 'sort by the distanceField of $geoNear',
    });
  }
  if (kind === 'randVal' || kind === 'searchScore' || kind === 'vectorSearchScore' || kind === 'score') return [];
  throw new QueryError(31138, `$sort of '${name}': unknown {$meta: ${describe(kind)}}`);
}

function parseKey(name: string, direction: BsonValue): SortKey {
  if (!isNumeric(direction)) {
    throw new QueryError(
      15974,
      `$sort of '${name}' takes 1 (ascending) or -1 (descending), found ${describe(direction)}`,
    );
  }
  // Fractions of doubles are cut off, those of decimals rounded, as in MongoDB.
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
