/** Positions of a navigation service: poses in mm on a local map, or places on the globe. Pure. */
import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { invalidArgument, invalidValue } from '@platform/base';
import { GeoPointSchema, GeoPoseSchema, PoseSchema } from '@platform/proto/platform/common/v1/common';
import { MapType, type Position, PositionSchema } from '@platform/proto/platform/service/navigation/v1/navigation';

/** In degrees. */
export interface GeoPlace {
  readonly latitude: number;
  readonly longitude: number;
}

const earthRadiusM = 6_371_008.8;

/** @param place on the globe; undefined: the origin of a local map */
export function startPosition(place: GeoPlace | undefined): Position {
  if (place === undefined) return create(PositionSchema, { value: { case: 'pose', value: { oZ: 1 } } });
  return create(PositionSchema, {
    value: { case: 'geoPose', value: { location: place, orientation: { case: 'heading', value: 0 } } },
  });
}

/** @param field in the request, for the message @throws invalid_argument if it is not on such a map */
export function checkPosition(position: Position | undefined, mapType: MapType, field: string): Position {
  const { case: kind, value } = position?.value ?? {};
  const wanted = mapType === MapType.GPS ? 'geoPose' : 'pose';
  if (kind !== wanted)
    throw invalidArgument(`${field}: expected a ${fieldOf(wanted)} (see GetProperties), found ${fieldOf(kind)}`);
  if (kind === 'geoPose') {
    const { latitude = Number.NaN, longitude = Number.NaN } = value?.location ?? {};
    if (!(Math.abs(latitude) <= 90) || !(Math.abs(longitude) <= 180))
      throw invalidValue(`${field}.geo_pose.location`, 'degrees of at most 90 and 180', { latitude, longitude });
  }
  return position as Position;
}

const fieldOf = (kind: string | undefined): string =>
  kind === undefined ? 'none' : kind === 'pose' ? kind : 'geo_pose';

/** In m, along a straight line or a great circle. */
export function distanceM(from: Position, to: Position): number {
  const [a, b] = [from.value, to.value];
  if (a.case === 'pose' && b.case === 'pose')
    return Math.hypot(a.value.x - b.value.x, a.value.y - b.value.y, a.value.z - b.value.z) / 1_000;
  const [start, end] = [geoPlace(from), geoPlace(to)];
  const radians = Math.PI / 180;
  const north = Math.sin(((end.latitude - start.latitude) * radians) / 2);
  const east = Math.sin(((end.longitude - start.longitude) * radians) / 2);
  const across = Math.cos(start.latitude * radians) * Math.cos(end.latitude * radians);
  return 2 * earthRadiusM * Math.asin(Math.min(1, Math.sqrt(north ** 2 + across * east ** 2)));
}

/** Of a path, in m. */
export function lengthM(path: readonly Position[]): number {
  return path.slice(1).reduce((sum, to, at) => sum + distanceM(path[at] ?? to, to), 0);
}

/** Between two positions, with the orientation of the first. @param share of the way, from 0 to 1 */
export function between(from: Position, to: Position, share: number): Position {
  if (share >= 1) return to;
  const part = (a: number, b: number): number => a + (b - a) * share;
  const [a, b] = [from.value, to.value];
  let value: MessageInitShape<typeof PositionSchema>['value'];
  if (a.case === 'pose' && b.case === 'pose') {
    const [p, q] = [a.value, b.value];
    const point = { x: part(p.x, q.x), y: part(p.y, q.y), z: part(p.z, q.z) };
    value = { case: 'pose', value: create(PoseSchema, { ...p, ...point }) };
  } else {
    const [p, q] = [geoPlace(from), geoPlace(to)];
    const location = create(GeoPointSchema, {
      latitude: part(p.latitude, q.latitude),
      longitude: part(p.longitude, q.longitude),
    });
    const orientation = a.case === 'geoPose' ? a.value.orientation : { case: undefined };
    value = { case: 'geoPose', value: create(GeoPoseSchema, { location, orientation }) };
  }
  return create(PositionSchema, { value });
}

function geoPlace({ value }: Position): GeoPlace {
  const place = value.case === 'geoPose' ? value.value.location : undefined;
  return place ?? { latitude: 0, longitude: 0 };
}
