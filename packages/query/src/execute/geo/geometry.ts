/** GeoJSON and pairs of numbers as points, lines and polygons, however they are nested. */

import { BsonDocument, type BsonValue, type Maybe } from '../../bson/value.ts';
import type { Point } from './distance.ts';
import { pairOf } from './place.ts';

/** The first ring is the outline, the others are holes in it; each ends where it begins. */
export type Polygon = readonly (readonly Point[])[];

export interface Geometry {
  readonly points: readonly Point[];
  readonly lines: readonly (readonly Point[])[];
  readonly polygons: readonly Polygon[];
}

/** @returns undefined for what is no geometry. */
export function geometryOf(value: Maybe): Geometry | undefined {
  const type = value instanceof BsonDocument ? value.get('type') : undefined;
  if (typeof type !== 'string' || !(value instanceof BsonDocument)) {
    const pair = pairOf(value);
    return pair && { ...nothing, points: [pair] };
  }
  if (type === 'GeometryCollection') return together(value.get('geometries'), geometryOf);
  return Object.hasOwn(readers, type) ? readers[type]!(value.get('coordinates')) : undefined;
}

const nothing: Geometry = { points: [], lines: [], polygons: [] };

type Read = (coordinates: Maybe) => Geometry | undefined;

const readPoint: Read = (coordinates) => {
  const point = placeOf(coordinates);
  return point && { ...nothing, points: [point] };
};

const readLine: Read = (coordinates) => {
  const line = allOf(coordinates, placeOf);
  return line && line.length >= 2 ? { ...nothing, lines: [line] } : undefined;
};

const readPolygon: Read = (coordinates) => {
  const rings = allOf(coordinates, (ring) => allOf(ring, placeOf));
  return rings?.every(isClosed) ? { ...nothing, polygons: [rings] } : undefined;
};

const readers: Readonly<Record<string, Read>> = {
  Point: readPoint,
  LineString: readLine,
  Polygon: readPolygon,
  MultiPoint: (coordinates) => together(coordinates, readPoint),
  MultiLineString: (coordinates) => together(coordinates, readLine),
  MultiPolygon: (coordinates) => together(coordinates, readPolygon),
};

function placeOf(value: Maybe): Point | undefined {
  const pair = Array.isArray(value) ? pairOf(value) : undefined;
  return pair !== undefined && Math.abs(pair[0]) <= 180 && Math.abs(pair[1]) <= 90 ? pair : undefined;
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

/** @returns undefined unless there are some and all can be read. */
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
