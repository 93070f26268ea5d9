/**
 * `core:builtin:fake`: keeps its mode and waypoints, but does not drive.
 *
 * Attributes: `latitude` and `longitude` (degrees), its position; without them, GetPaths is UNIMPLEMENTED. GetLocation and GetProperties are
 * always UNIMPLEMENTED: newer public clients expect other messages under these names, and would read ours as empty. See fake-model.ts for
 * `errors` and `delays_ms`.
 */
import { type Clock, invalidArgument, newId, notFound, unimplemented } from '@platform/base';
import { Mode } from '@platform/proto/platform/service/navigation/v1/navigation';
import { type Navigation, navigation } from '@platform/resources';
import type { Model } from '../../../graph/model.ts';
import { fakeModel } from '../../fake/fake-model.ts';

const fields = {
  latitude: { kind: 'float', min: -90, max: 90 },
  longitude: { kind: 'float', min: -180, max: 180 },
} as const;

interface Point {
  readonly latitude: number;
  readonly longitude: number;
}

export const createFakeNavigation: (clock: Clock) => Model = fakeModel<Navigation, typeof fields>({
  type: navigation,
  fields,
  make({ latitude, longitude }) {
    let mode: Mode = Mode.MANUAL;
    const position = (): Point => {
      if (latitude !== undefined && longitude !== undefined) return { latitude, longitude };
      const text = 'this fake has no position: expected the attributes latitude and longitude, found none';
      throw unimplemented(text);
    };
    const waypoints = new Map<string, Point>();
    return {
      getMode: async () => ({ mode }),
      async setMode({ mode: wanted }) {
        if (wanted === Mode.UNSPECIFIED)
          throw invalidArgument('mode: expected MANUAL, WAYPOINT or EXPLORE, found none');
        mode = wanted;
      },
      getWaypoints: async () => ({ waypoints: [...waypoints].map(([id, location]) => ({ id, location })) }),
      async addWaypoint({ location }) {
        if (location === undefined) throw invalidArgument('location: expected a latitude and a longitude, found none');
        waypoints.set(newId(), { latitude: location.latitude, longitude: location.longitude });
      },
      async removeWaypoint({ id }) {
        if (!waypoints.delete(id)) throw notFound(`there is no waypoint "${id}"`);
      },
      getObstacles: async () => ({ obstacles: [] }),
      async getPaths() {
        const geopoints = [position(), ...waypoints.values()];
        const destinationWaypointId = [...waypoints.keys()].at(-1);
        return { paths: destinationWaypointId === undefined ? [] : [{ destinationWaypointId, geopoints }] };
      },
    };
  },
});
