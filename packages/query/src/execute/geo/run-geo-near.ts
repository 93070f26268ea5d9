/** $geoNear: rows from the nearest to the farthest, without those that have no place. */
import { chunks } from '@platform/base';
import { BsonDocument, type BsonValue, type Maybe } from '../../bson/value.ts';
import type { Path } from '../../plan/expr.ts';
import type { GeoNearStage } from '../../plan/stage.ts';
import type { StageContext } from '../../stages/definition.ts';
import { compileExpression } from '../expressions/expression.ts';
import { valueAt, withValue } from '../expressions/path.ts';
import { enterRow } from '../expressions/scope.ts';
import { isTruthy } from '../expressions/truth.ts';
import { sizeOf } from '../limits/size-limits.ts';
import type { Rows } from '../row.ts';
import { angle, angleToArc, flatDistance, isInRing, type Point } from './distance.ts';
import { type Geometry, geometryOf, type Polygon, pairOf } from './geometry.ts';

/** Radius of the sphere that represents the earth. */
const earthMetres = 6_378_100;

interface Near {
  readonly document: BsonDocument;
  readonly location: BsonValue;
  readonly distance: number;
}

export async function* runGeoNear(stage: GeoNearStage, input: Rows, { budget, frame }: StageContext): Rows {
  const where = stage.where === undefined ? undefined : compileExpression(stage.where);
  const found: Near[] = [];
  for await (const rows of input) {
    for (const { document } of rows) {
      enterRow(frame, document);
      if (where !== undefined && !isTruthy(where(frame))) continue;
      const near = nearest(document, stage);
      if (near === undefined) continue;
      budget.hold(sizeOf(document) + 64, '$geoNear');
      found.push(near);
    }
  }
  found.sort((left, right) => left.distance - right.distance);
  for (const some of chunks(found, 1000))
    yield some.map((near) => ({ document: withDistance(near, stage), near: known(near) }));
}

/** The nearest of the row's places, if it is within the bounds. */
function nearest(document: BsonDocument, stage: GeoNearStage): Near | undefined {
  let best: Near | undefined;
  for (const [location, place] of placesOf(document, stage.key)) {
    const distance = distanceTo(place, stage);
    if (distance < (stage.minDistance ?? 0) || distance > (stage.maxDistance ?? Number.POSITIVE_INFINITY)) continue;
    if (best === undefined || distance < best.distance) best = { document, location, distance };
  }
  return best;
}

function distanceTo(place: Place, { near, geoJson, spherical }: GeoNearStage): number {
  if (geoJson) return place.angleFrom(near) * earthMetres;
  return spherical || place.point === undefined ? place.angleFrom(near) : flatDistance(near, place.point);
}

/** Without a key: the first field that holds a place. */
function placesOf(document: BsonDocument, key: Path | undefined): readonly (readonly [BsonValue, Place])[] {
  if (key === undefined) {
    const first = firstPlace(document);
    return first === undefined ? firstPlaces(document) : [first];
  }
  const value = valueAt(document, key);
  const place = placeOf(value);
  if (place !== undefined) return [[value!, place]];
  return (Array.isArray(value) ? value : []).flatMap((item) => {
    const each = placeOf(item);
    return each === undefined ? [] : [[item, each] as const];
  });
}

/** The places in the first array that holds any. */
function firstPlaces(value: BsonValue): readonly (readonly [BsonValue, Place])[] {
  if (Array.isArray(value)) {
    return value.flatMap((item) => {
      const place = placeOf(item);
      return place === undefined ? (item instanceof BsonDocument ? firstPlaces(item) : []) : [[item, place] as const];
    });
  }
  for (const part of value instanceof BsonDocument ? value.values() : []) {
    const place = placeOf(part);
    const found = place === undefined ? firstPlaces(part) : [[part, place] as const];
    if (found.length > 0) return found;
  }
  return [];
}

function firstPlace(document: BsonDocument): readonly [BsonValue, Place] | undefined {
  for (const value of document.values()) {
    const place = placeOf(value);
    if (place !== undefined) return [value, place];
    const below = value instanceof BsonDocument ? firstPlace(value) : undefined;
    if (below !== undefined) return below;
  }
  return undefined;
}

/** For $meta: the measured distance, without the multiplier. */
function known({ distance, location }: Near): BsonDocument {
  return BsonDocument.of({ distance, point: location });
}

function withDistance({ document, location, distance }: Near, stage: GeoNearStage): BsonDocument {
  let result: Maybe = document;
  const { distanceField, includeLocs, multiplier } = stage;
  if (distanceField !== undefined) result = withValue(result, distanceField, distance * multiplier);
  if (includeLocs !== undefined) result = withValue(result, includeLocs, location);
  return result instanceof BsonDocument ? result : document;
}

interface Place {
  /** A single point; present for every pair of numbers. */
  readonly point?: Point;
  /** In radians on the sphere; 0 inside a polygon. */
  readonly angleFrom: (point: Point) => number;
}

/** Places in rows: geometries of any kind, and their distances. The place that a value describes, or undefined if it describes none. */
function placeOf(value: Maybe): Place | undefined {
  const geometry = geometryOf(value, 'any');
  if (geometry === undefined) return undefined;
  const isPoint = pairOf(value) !== undefined || (value instanceof BsonDocument && value.get('type') === 'Point');
  return { angleFrom: (from) => angleTo(geometry, from), ...(isPoint && { point: geometry.points[0]! }) };
}

function angleTo({ points, lines, polygons }: Geometry, from: Point): number {
  return Math.min(
    ...points.map((point) => angle(from, point)),
    ...lines.map((line) => angleToPoints(from, line)),
    ...polygons.map((polygon) => angleToPolygon(from, polygon)),
  );
}

function angleToPolygon(from: Point, rings: Polygon): number {
  const [outline, ...holes] = rings;
  if (isInRing(from, outline!) && !holes.some((hole) => isInRing(from, hole))) return 0;
  return Math.min(...rings.map((ring) => angleToPoints(from, ring)));
}

function angleToPoints(from: Point, points: readonly Point[]): number {
  if (points.length === 1) return angle(from, points[0]!);
  let least = Number.POSITIVE_INFINITY;
  for (let index = 1; index < points.length; index++) {
    least = Math.min(least, angleToArc(from, points[index - 1]!, points[index]!));
  }
  return least;
}
