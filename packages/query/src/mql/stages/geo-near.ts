/** $geoNear: the point, what to measure, and where to put the distance. */

import { describe } from '../../bson/describe.ts';
import { isNumeric } from '../../bson/type.ts';
import { BsonDocument, type BsonValue, type Maybe } from '../../bson/value.ts';
import { isTruthy } from '../../execute/expressions/truth.ts';
import { isOnEarth, pairOf } from '../../execute/geo/geometry.ts';
import { toDouble } from '../../functions/numbers/number.ts';
import type { GeoNearStage } from '../../plan/stage.ts';
import { QueryError } from '../../query-error.ts';
import { constantOf, parseExpression } from '../expression.ts';
import { asksForText, parseFilter } from '../match/filter.ts';
import { parseFieldPath } from '../path.ts';

type Draft = { -readonly [Field in keyof GeoNearStage]?: GeoNearStage[Field] };

const parts: Readonly<Record<string, (value: BsonValue, into: Draft) => void>> = {
  near: (value, into) => {
    const { value: near } = constantOf(parseExpression(value, '$geoNear.near')) ?? notConstant('near', 5860402);
    if (!Array.isArray(near) && !(near instanceof BsonDocument)) {
      throw new QueryError(5860401, `near must be a point, found ${describe(near)}`);
    }
    Object.assign(into, pointOf(near));
  },
  distanceField: (value, into) => {
    if (typeof value !== 'string')
      throw new QueryError(16606, `distanceField must be a name, found ${describe(value)}`);
    into.distanceField = parseFieldPath(value);
  },
  includeLocs: (value, into) => {
    if (typeof value !== 'string') throw new QueryError(16607, `includeLocs must be a name, found ${describe(value)}`);
    into.includeLocs = parseFieldPath(value);
  },
  key: (value, into) => {
    if (typeof value !== 'string') {
      throw new QueryError('TypeMismatch', `key must be the name of a field, found ${describe(value)}`);
    }
    if (value === '') throw new QueryError('BadValue', 'key must be the name of a field, found an empty string');
    into.key = parseFieldPath(value);
  },
  minDistance: (value, into) => {
    into.minDistance = distanceOf(value, 'minDistance', 7555701);
  },
  maxDistance: (value, into) => {
    into.maxDistance = distanceOf(value, 'maxDistance', 7555702);
  },
  distanceMultiplier: (value, into) => {
    into.multiplier = numberOf(value, 'distanceMultiplier');
  },
  spherical: (value, into) => {
    into.spherical = isTruthy(value);
  },
  // Each row yields only its nearest place anyway.
  uniqueDocs: () => undefined,
  query: (value, into) => {
    if (!(value instanceof BsonDocument)) {
      throw new QueryError('TypeMismatch', `query must be an object, found ${describe(value)}`);
    }
    const where = parseFilter(value);
    if (asksForText(where)) throw new QueryError('BadValue', '$text is not allowed in the query of $geoNear');
    into.where = where;
  },
};

/** Options of older versions; each is refused with its own code. */
const gone: Readonly<Record<string, number>> = { collation: 40227, limit: 50858, num: 50857, start: 50856 };

export function parseGeoNear(spec: BsonValue): GeoNearStage {
  if (Array.isArray(spec)) throw new QueryError(5860400, '$geoNear needs the field near, found an array');
  if (!(spec instanceof BsonDocument)) throw new QueryError(10065, `$geoNear takes an object, found ${describe(spec)}`);
  const draft: Draft = {};
  for (const [name, code] of Object.entries(gone)) {
    if (!spec.has(name)) continue;
    const hint = 'use later stages, such as $limit, to process the rows';
    throw new QueryError(code, `$geoNear has no option '${name}' any more`, { hint });
  }
  if (!spec.has('near')) throw new QueryError(5860400, '$geoNear needs the field near');
  for (const [name, value] of spec) {
    if (!Object.hasOwn(parts, name)) throw new QueryError(40415, `$geoNear has no option '${name}'`);
    parts[name]!(value, draft);
  }
  const { near, geoJson = false, spherical = geoJson, multiplier = 1 } = draft;
  if (near === undefined) throw new QueryError(5860400, '$geoNear needs the field near');
  if (spherical && !isOnEarth(near))
    throw new QueryError(17444, `near is not a point on the sphere: ${near.join(', ')}`);
  return { ...draft, k: 'geoNear', near, geoJson, spherical, multiplier };
}

function notConstant(name: string, code: number): never {
  throw new QueryError(code, `${name} must be a constant`);
}

function pointOf(near: BsonValue): Pick<GeoNearStage, 'near' | 'geoJson'> {
  if (near instanceof BsonDocument && near.has('type')) {
    const coordinates = near.get('coordinates');
    const point = Array.isArray(coordinates) ? pairOf(coordinates) : undefined;
    const valid = near.get('type') === 'Point' && point !== undefined && isOnEarth(point);
    if (!valid) throw new QueryError('BadValue', `near must be a GeoJSON point, found ${describe(near)}`);
    return { near: point, geoJson: true };
  }
  const point = pairOf(near);
  const count = near instanceof BsonDocument ? near.size : Array.isArray(near) ? near.length : 0;
  if (point === undefined || count > 2 || !point.every(Number.isFinite)) {
    throw new QueryError('BadValue', `near must be a pair of numbers, found ${describe(near)}`);
  }
  if (!point.every((each) => Math.abs(each) <= 180)) {
    throw new QueryError(16433, `near must lie between -180 and 180, found ${point.join(', ')}`);
  }
  return { near: point, geoJson: false };
}

function distanceOf(value: BsonValue, name: string, code: number): number {
  const { value: distance } = constantOf(parseExpression(value, `$geoNear.${name}`)) ?? notConstant(name, code);
  return numberOf(distance, name);
}

function numberOf(value: Maybe, name: string): number {
  if (!isNumeric(value)) throw new QueryError('TypeMismatch', `${name} must be a number, found ${describe(value)}`);
  const number = toDouble(value);
  if (number >= 0) return number;
  throw new QueryError('BadValue', `${name} must not be negative, found ${number}`);
}
