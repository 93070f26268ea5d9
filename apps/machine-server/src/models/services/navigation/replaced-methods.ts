/**
 * The methods that clients up to API 0.1.577 call: a mode, and waypoints on the globe. They have nothing to do with the locations and goals
 * of newer clients.
 */
import { invalidArgument, newId, notFound, unimplemented } from '@platform/base';
import { Mode } from '@platform/proto/platform/service/navigation/v1/navigation';
import type { Navigation } from '@platform/resources';
import type { GeoPlace } from './positions.ts';

type ReplacedMethods = Pick<
  Navigation,
  'getMode' | 'setMode' | 'getWaypoints' | 'addWaypoint' | 'removeWaypoint' | 'getObstacles' | 'getPaths'
>;

/** @param place where the base is; undefined: GetPaths is UNIMPLEMENTED */
export function replacedMethods(place: GeoPlace | undefined): ReplacedMethods {
  let mode: Mode = Mode.MANUAL;
  const waypoints = new Map<string, GeoPlace>();
  return {
    getMode: async () => ({ mode }),
    async setMode({ mode: wanted }) {
      if (wanted === Mode.UNSPECIFIED) throw invalidArgument('mode: expected MANUAL, WAYPOINT or EXPLORE, found none');
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
      if (place === undefined)
        throw unimplemented('this fake has no position: expected the attributes latitude and longitude, found none');
      const geopoints = [place, ...waypoints.values()];
      const destinationWaypointId = [...waypoints.keys()].at(-1);
      return { paths: destinationWaypointId === undefined ? [] : [{ destinationWaypointId, geopoints }] };
    },
  };
}
