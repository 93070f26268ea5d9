/** Places in rows: pairs of numbers, and GeoJSON. */

import { isNumeric } from '../../bson/type.ts';
import { BsonDocument, type BsonValue, type Maybe } from '../../bson/value.ts';
import { toDouble } from '../../functions/numbers/number.ts';
import { angle, angleToArc, isInRing, type Point } from './distance.ts';

export interface Place {
  /** A single point, which a pair of numbers always is. */
  readonly point?: Point;
  readonly geoJson: boolean;
  /** In radians on the sphere; 0 inside a polygon. */
  readonly angleFrom: (point: Point) => number;
}

/** The place that a value means, or undefined if it is none. */
export function placeOf(value: Maybe): Place | undefined {
  const pair = pairOf(value);
  if (pair !== undefined) return { point: pair, geoJson: false, angleFrom: (from) => angle(from, pair) };
  if (!(value instanceof BsonDocument)) return undefined;
  const type = value.get('type');
  if (type === 'GeometryCollection') return collection(value.get('geometries'), placeOf);
  const shape = typeof type === 'string' && Object.hasOwn(shapes, type) ? shapes[type] : undefined;
  return shape?.(value.get('coordinates'));
}

/** `[x, y]`, or an object whose first two fields are numbers. */
export function pairOf(value: Maybe): Point | undefined {
  const parts = value instanceof BsonDocument ? [...value.values()] : value;
  if (!Array.isArray(parts) || parts.length < 2) return undefined;
  const [x, y] = [numberOf(parts[0]), numberOf(parts[1])];
  return x === undefined || y === undefined ? undefined : [x, y];
}

function numberOf(value: Maybe): number | undefined {
  if (!isNumeric(value)) return undefined;
  return toDouble(value);
}

type Shape = (coordinates: Maybe) => Place | undefined;

const point: Shape = (coordinates) => {
  const pair = Array.isArray(coordinates) ? pairOf(coordinates) : undefined;
  return pair && { point: pair, geoJson: true, angleFrom: (from) => angle(from, pair) };
};

const line: Shape = (coordinates) => {
  const points = pointsOf(coordinates);
  return points && { geoJson: true, angleFrom: (from) => angleToPoints(from, points) };
};

/** The first ring is the outline, the others are holes in it. */
const polygon: Shape = (coordinates) => {
  const rings = Array.isArray(coordinates) ? coordinates.map(pointsOf) : [];
  if (rings.length === 0 || !rings.every((ring) => ring !== undefined)) return undefined;
  const [outline, ...holes] = rings;
  return {
    geoJson: true,
    angleFrom: (from) => {
      if (isInRing(from, outline!) && !holes.some((hole) => isInRing(from, hole))) return 0;
      return Math.min(...rings.map((ring) => angleToPoints(from, ring)));
    },
  };
};

const shapes: Readonly<Record<string, Shape>> = {
  Point: point,
  LineString: line,
  Polygon: polygon,
  MultiPoint: (coordinates) => collection(coordinates, point),
  MultiLineString: (coordinates) => collection(coordinates, line),
  MultiPolygon: (coordinates) => collection(coordinates, polygon),
};

function collection(values: Maybe, one: (value: BsonValue) => Place | undefined): Place | undefined {
  const places = Array.isArray(values) ? values.map(one) : [];
  if (places.length === 0 || !places.every((place) => place !== undefined)) return undefined;
  return { geoJson: true, angleFrom: (from) => Math.min(...places.map((place) => place.angleFrom(from))) };
}

function pointsOf(value: Maybe): Point[] | undefined {
  const points = Array.isArray(value) ? value.map(pairOf) : [];
  return points.length > 0 && points.every((each) => each !== undefined) ? points : undefined;
}

function angleToPoints(from: Point, points: readonly Point[]): number {
  if (points.length === 1) return angle(from, points[0]!);
  let least = Number.POSITIVE_INFINITY;
  for (let index = 1; index < points.length; index++) {
    least = Math.min(least, angleToArc(from, points[index - 1]!, points[index]!));
  }
  return least;
}
