/** Places in rows: geometries of any kind, and their distances. */

import { BsonDocument, type Maybe } from '../../bson/value.ts';
import { angle, angleToArc, isInRing, type Point } from './distance.ts';
import { type Geometry, geometryOf, type Polygon, pairOf } from './geometry.ts';

export interface Place {
  /** A single point; present for every pair of numbers. */
  readonly point?: Point;
  /** In radians on the sphere; 0 inside a polygon. */
  readonly angleFrom: (point: Point) => number;
}

/** The place that a value describes, or undefined if it describes none. */
export function placeOf(value: Maybe): Place | undefined {
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
