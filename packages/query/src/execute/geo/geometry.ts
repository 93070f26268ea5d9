/** GeoJSON and pairs of numbers as points, lines and polygons, however they are nested. */

import { isNumeric } from '../../bson/type.ts';
import { BsonDocument, type BsonValue, type Maybe } from '../../bson/value.ts';
import { toDouble } from '../../functions/numbers/number.ts';
import type { Point } from './distance.ts';

/** The first ring is the outline, the others are holes in it. */
export type Polygon = readonly (readonly Point[])[];

export interface Geometry {
  readonly points: readonly Point[];
  readonly lines: readonly (readonly Point[])[];
  readonly polygons: readonly Polygon[];
}

/** `valid`: coordinates lie on the earth, lines have two points, and rings end where they begin. `any` has no such rules. */
type Rules = 'valid' | 'any';

/** The geometry of a value, or undefined if it has none. */
export function geometryOf(value: Maybe, rules: Rules = 'valid'): Geometry | undefined {
  const type = value instanceof BsonDocument ? value.get('type') : undefined;
  const pair = rules === 'any' || typeof type !== 'string' ? pairOf(value) : undefined;
  if (pair !== undefined) return { ...nothing, points: [pair] };
  if (typeof type !== 'string' || !(value instanceof BsonDocument)) return undefined;
  if (type === 'GeometryCollection') return together(value.get('geometries'), (each) => geometryOf(each, rules));
  return Object.hasOwn(readers, type) ? readers[type]!(value.get('coordinates'), rules) : undefined;
}

/** `[x, y]`, or an object whose first two fields are numbers. */
export function pairOf(value: Maybe): Point | undefined {
  const parts = value instanceof BsonDocument ? [...value.values()] : value;
  if (!Array.isArray(parts) || parts.length < 2) return undefined;
  const [x, y] = parts;
  return isNumeric(x) && isNumeric(y) ? [toDouble(x), toDouble(y)] : undefined;
}

export function isOnEarth([longitude, latitude]: Point): boolean {
  return Math.abs(longitude) <= 180 && Math.abs(latitude) <= 90;
}

const nothing: Geometry = { points: [], lines: [], polygons: [] };

type Read = (coordinates: Maybe, rules: Rules) => Geometry | undefined;

const readPoint: Read = (coordinates, rules) => {
  const point = Array.isArray(coordinates) ? pointIn(coordinates, rules) : undefined;
  return point && { ...nothing, points: [point] };
};

const readLine: Read = (coordinates, rules) => {
  const line = allOf(coordinates, (each) => pointIn(each, rules));
  return line && (rules === 'any' || line.length >= 2) ? { ...nothing, lines: [line] } : undefined;
};

const readPolygon: Read = (coordinates, rules) => {
  const rings = allOf(coordinates, (ring) => allOf(ring, (each) => pointIn(each, rules)));
  return rings?.every((ring) => rules === 'any' || isClosed(ring)) ? { ...nothing, polygons: [rings] } : undefined;
};

const several =
  (read: Read): Read =>
  (coordinates, rules) =>
    together(coordinates, (each) => read(each, rules));

const readers: Readonly<Record<string, Read>> = {
  Point: readPoint,
  LineString: readLine,
  Polygon: readPolygon,
  MultiPoint: several(readPoint),
  MultiLineString: several(readLine),
  MultiPolygon: several(readPolygon),
};

function pointIn(value: BsonValue, rules: Rules): Point | undefined {
  if (rules === 'any') return pairOf(value);
  const pair = Array.isArray(value) ? pairOf(value) : undefined;
  return pair && isOnEarth(pair) ? pair : undefined;
}

function isClosed(ring: readonly Point[]): boolean {
  const [first, last] = [ring[0], ring.at(-1)];
  return ring.length >= 4 && first?.[0] === last?.[0] && first?.[1] === last?.[1];
}

function together(values: Maybe, read: (value: BsonValue) => Geometry | undefined): Geometry | undefined {
  const parts = allOf(values, read);
  return (
    parts && {
      points: parts.flatMap(({ points }) => points),
      lines: parts.flatMap(({ lines }) => lines),
      polygons: parts.flatMap(({ polygons }) => polygons),
    }
  );
}

/** @returns undefined unless there is at least one and all can be read. */
function allOf<T>(values: Maybe, read: (value: BsonValue) => T | undefined): T[] | undefined {
  if (!Array.isArray(values) || values.length === 0) return undefined;
  const found: T[] = [];
  for (const value of values) {
    const each = read(value);
    if (each === undefined) return undefined;
    found.push(each);
  }
  return found;
}
