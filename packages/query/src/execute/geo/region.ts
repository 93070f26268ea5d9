/** The regions of $geoWithin and $geoIntersects. Edges of GeoJSON are arcs of great circles. */

import { BsonDocument, type BsonValue, type Maybe } from '../../bson/value.ts';
import { angle, angleToArc, arcsCross, flatDistance, isInRing, isInSphericalRing, type Point } from './distance.ts';
import { type Geometry, geometryOf, type Polygon, pairOf } from './geometry.ts';

export type GeoTest = (value: Maybe) => boolean;

/** In radians: a point closer than this to a line lies on it. */
const touching = 1e-12;

/** @returns undefined if the specification names no region. */
export function geoWithin(spec: BsonValue): GeoTest | undefined {
  const [name, argument] = shapeIn(spec);
  if (name === '$geometry') {
    const region = geometryOf(argument);
    if (region === undefined || region.polygons.length === 0 || region.points.length + region.lines.length > 0) {
      return undefined;
    }
    return (value) => {
      const geometry = geometryOf(value);
      return geometry !== undefined && isWithin(geometry, region);
    };
  }
  const covers = coversOf(name, argument);
  if (covers === undefined) return undefined;
  return (value) => {
    const geometry = geometryOf(value);
    if (geometry === undefined) return false;
    // On the plane there are only points.
    const isPoint = geometry.points.length === 1 && geometry.lines.length + geometry.polygons.length === 0;
    return (isPoint || name === '$centerSphere') && verticesOf(geometry).every(covers);
  };
}

/** @returns undefined if the specification names no geometry. */
export function geoIntersects(spec: BsonValue): GeoTest | undefined {
  const [name, argument] = shapeIn(spec);
  const region = name === '$geometry' && argument instanceof BsonDocument ? geometryOf(argument) : undefined;
  if (region === undefined) return undefined;
  return (value) => {
    const geometry = geometryOf(value);
    return (
      geometry !== undefined && (touches(geometry, region) || touches(region, geometry) || cross(geometry, region))
    );
  };
}

/** The only shape in a specification; the obsolete `$uniqueDocs` is ignored. */
function shapeIn(spec: BsonValue): readonly [string, Maybe] {
  const shapes = spec instanceof BsonDocument ? [...spec].filter(([name]) => name !== '$uniqueDocs') : [];
  return shapes.length === 1 ? shapes[0]! : ['', undefined];
}

function coversOf(name: string, argument: Maybe): ((point: Point) => boolean) | undefined {
  const parts = argument instanceof BsonDocument ? [...argument.values()] : argument;
  if (!Array.isArray(parts)) return undefined;
  if (name === '$center' || name === '$centerSphere') {
    const [center, size] = [pairOf(parts[0]), pairOf([parts[1] ?? null, 0])];
    if (parts.length !== 2 || center === undefined || size === undefined || !(size[0] >= 0)) return undefined;
    const distance = name === '$center' ? flatDistance : angle;
    return (point) => distance(center, point) <= size[0];
  }
  const corners = parts.map(pairOf);
  if (!corners.every((corner) => corner !== undefined)) return undefined;
  if (name === '$polygon' && corners.length >= 3)
    return (point) => isInRing(point, corners) || isOnEdge(point, corners);
  if (name !== '$box' || corners.length !== 2) return undefined;
  const [[ax, ay], [bx, by]] = corners as [Point, Point];
  return ([x, y]) => x >= Math.min(ax, bx) && x <= Math.max(ax, bx) && y >= Math.min(ay, by) && y <= Math.max(ay, by);
}

function isOnEdge(point: Point, corners: readonly Point[]): boolean {
  return corners.some((corner, index) => {
    const next = corners[(index + 1) % corners.length]!;
    return flatDistance(corner, point) + flatDistance(point, next) === flatDistance(corner, next);
  });
}

type Edge = readonly [Point, Point];

function verticesOf({ points, lines, polygons }: Geometry): readonly Point[] {
  return [...points, ...lines.flat(), ...polygons.flat(2)];
}

function edgesOf({ lines, polygons }: Pick<Geometry, 'lines' | 'polygons'>): readonly Edge[] {
  return [...lines, ...polygons.flat()].flatMap((line) =>
    line.slice(1).map((point, index): Edge => [line[index]!, point]),
  );
}

function isWithin(geometry: Geometry, region: Geometry): boolean {
  const covered = verticesOf(geometry).every((point) => region.polygons.some((polygon) => covers(polygon, point)));
  return covered && !cross(geometry, region);
}

function covers([outline, ...holes]: Polygon, point: Point): boolean {
  if (edgesOf({ lines: [outline!], polygons: [] }).some(([from, to]) => angleToArc(point, from, to) < touching)) {
    return true;
  }
  return isInSphericalRing(point, outline!) && !holes.some((hole) => isInSphericalRing(point, hole));
}

/** Whether a corner of one geometry is in or on the other. */
function touches(geometry: Geometry, other: Geometry): boolean {
  const edges = edgesOf(other);
  return verticesOf(geometry).some(
    (point) =>
      other.points.some((each) => angle(point, each) < touching) ||
      edges.some(([from, to]) => angleToArc(point, from, to) < touching) ||
      other.polygons.some((polygon) => covers(polygon, point)),
  );
}

function cross(geometry: Geometry, other: Geometry): boolean {
  const edges = edgesOf(other);
  return edgesOf(geometry).some(([a, b]) => edges.some(([c, d]) => arcsCross(a, b, c, d)));
}
