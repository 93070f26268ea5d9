/** Distances on the sphere and on the plane. Points are longitude and latitude in degrees, or x and y. */

export type Point = readonly [number, number];
type Vector = readonly [number, number, number];

const radians: number = Math.PI / 180;

export function flatDistance([ax, ay]: Point, [bx, by]: Point): number {
  return Math.sqrt((ax - bx) ** 2 + (ay - by) ** 2);
}

/** The angle between two points in radians, exact for small angles as well. */
export function angle(a: Point, b: Point): number {
  return angleOf(vector(a), vector(b));
}

/** From a point to the nearest point of the shorter arc between two others. */
export function angleToArc(point: Point, from: Point, to: Point): number {
  const [p, a, b] = [vector(point), vector(from), vector(to)];
  const pole = cross(a, b);
  const length = Math.hypot(...pole);
  if (length > 0) {
    // Between the two ends, the distance from the great circle counts.
    const between = dot(cross(pole, a), p) > 0 && dot(cross(b, pole), p) > 0;
    if (between) return Math.abs(Math.asin(Math.max(-1, Math.min(1, dot(p, pole) / length))));
  }
  return Math.min(angleOf(p, a), angleOf(p, b));
}

/** Counts the sides that a ray from the point crosses, on the map of longitude and latitude. */
export function isInRing([x, y]: Point, ring: readonly Point[]): boolean {
  let inside = false;
  for (let index = 0, last = ring.length - 1; index < ring.length; last = index++) {
    const [ax, ay] = ring[index]!;
    const [bx, by] = ring[last]!;
    if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) inside = !inside;
  }
  return inside;
}

/** Like isInRing, but sides are arcs of great circles; of the two parts of the sphere, the smaller one is inside. */
export function isInSphericalRing(point: Point, ring: readonly Point[]): boolean {
  const p = vector(point);
  const corners = ring.map(vector);
  const middle = corners.reduce(([x, y, z], [a, b, c]): Vector => [x + a, y + b, z + c], [0, 0, 0]);
  if (dot(p, middle) <= 0) return false;
  // How often the ring winds around the point, as seen from it.
  let turned = 0;
  for (let index = 1; index < corners.length; index++) {
    const [from, to] = [cross(p, corners[index - 1]!), cross(p, corners[index]!)];
    turned += Math.atan2(dot(p, cross(from, to)), dot(from, to));
  }
  return Math.abs(turned) > Math.PI;
}

/** Whether two arcs share a point that is not an end of either. */
export function arcsCross(...ends: readonly [Point, Point, Point, Point]): boolean {
  const [a, b, c, d] = ends.map(vector) as [Vector, Vector, Vector, Vector];
  const [ab, cd] = [cross(a, b), cross(c, d)];
  const parted = dot(ab, c) * dot(ab, d) < 0 && dot(cd, a) * dot(cd, b) < 0;
  if (!parted) return false;
  // The great circles meet on both sides of the sphere.
  const meeting = cross(ab, cd);
  return dot(meeting, a) + dot(meeting, b) > 0 === dot(meeting, c) + dot(meeting, d) > 0;
}

function vector([longitude, latitude]: Point): Vector {
  const cosine = Math.cos(latitude * radians);
  return [Math.cos(longitude * radians) * cosine, Math.sin(longitude * radians) * cosine, Math.sin(latitude * radians)];
}

function angleOf(a: Vector, b: Vector): number {
  const [x, y, z] = cross(a, b);
  return Math.atan2(Math.sqrt(x * x + y * y + z * z), dot(a, b));
}

function dot([ax, ay, az]: Vector, [bx, by, bz]: Vector): number {
  return ax * bx + ay * by + az * bz;
}

function cross([ax, ay, az]: Vector, [bx, by, bz]: Vector): Vector {
  return [ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx];
}
