/**
 * `core:builtin:fake`: keeps its mode and waypoints, but does not drive.
 *
 * Attributes: `latitude` and `longitude` (degrees, default 0), `compass_heading_deg` (default 0), its position and heading. See
 * fake-model.ts for `errors` and `delays_ms`.
 */
import { type Clock, newId, PlatformError } from '@platform/base';
import { MapType, Mode } from '@platform/proto/platform/service/navigation/v1/navigation';
import { type Navigation, navigation } from '@platform/resources';
import type { Model } from '../../../graph/model.ts';
import { fakeModel } from '../../fake/fake-model.ts';

const fields = {
  latitude: { kind: 'float', default: 0, min: -90, max: 90 },
  longitude: { kind: 'float', default: 0, min: -180, max: 180 },
  compass_heading_deg: { kind: 'float', default: 0, min: 0, max: 360 },
} as const;

interface Point {
  readonly latitude: number;
  readonly longitude: number;
}

export const createFakeNavigation: (clock: Clock) => Model = fakeModel<Navigation, typeof fields>({
  type: navigation,
  fields,
  make({ latitude, longitude, compass_heading_deg: compassHeading }) {
    let mode: Mode = Mode.MANUAL;
    const waypoints = new Map<string, Point>();
    return {
      async getMode() {
        return { mode };
      },
      async setMode({ mode: wanted }) {
        if (wanted === Mode.UNSPECIFIED)
          throw new PlatformError('invalid_argument', 'mode: expected MANUAL, WAYPOINT or EXPLORE, found none');
        mode = wanted;
      },
      async getLocation() {
        return { location: { latitude, longitude }, compassHeading };
      },
      async getWaypoints() {
        return { waypoints: [...waypoints].map(([id, location]) => ({ id, location })) };
      },
      async addWaypoint({ location }) {
        if (location === undefined)
          throw new PlatformError('invalid_argument', 'location: expected a latitude and a longitude, found none');
        waypoints.set(newId(), { latitude: location.latitude, longitude: location.longitude });
      },
      async removeWaypoint({ id }) {
        if (!waypoints.delete(id)) throw new PlatformError('not_found', `there is no waypoint "${id}"`);
      },
      async getObstacles() {
        return { obstacles: [] };
      },
      async getPaths() {
        const geopoints = [{ latitude, longitude }, ...waypoints.values()];
        const destinationWaypointId = [...waypoints.keys()].at(-1);
        return { paths: destinationWaypointId === undefined ? [] : [{ destinationWaypointId, geopoints }] };
      },
      async getProperties() {
        return { mapType: MapType.GPS };
      },
    };
  },
});
