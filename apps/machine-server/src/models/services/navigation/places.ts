/** What a fake navigation service knows about its map: saved locations, routes and zones. */
import { create } from '@bufbuild/protobuf';
import { invalidArgument, invalidValue } from '@platform/base';
import {
  LocationSchema,
  type MapType,
  type Position,
  RouteSchema,
  type Waypoint,
  type Zone,
  ZoneSchema,
} from '@platform/proto/platform/service/navigation/v1/navigation';
import type { Navigation } from '@platform/resources';
import type { Stop } from './drive.ts';
import { NamedStore } from './named-store.ts';
import { checkPosition } from './positions.ts';

type PlaceMethods = Pick<
  Navigation,
  `${'add' | 'get' | 'update' | 'delete'}${'Location' | 'Route' | 'Zone'}` | `list${'Locations' | 'Routes' | 'Zones'}`
>;

interface Places {
  readonly methods: PlaceMethods;
  /** The stop at a saved location. @throws not_found */
  stopAt(locationName: string): Stop;
  /** @throws not_found, and invalid_argument for a position that is not on the map */
  stopsOf(waypoints: readonly Waypoint[]): readonly Stop[];
  /** @throws not_found */
  waypointsOf(routeName: string): Waypoint[];
}

/** Far more than experiments need; it bounds what every status contains. */
const mostStops = 1_000;

/** @throws invalid_argument for a list of stops that is too long @param field in the request, for the message */
export function checkStops(stops: readonly unknown[], field: string): void {
  if (stops.length > mostStops) throw invalidArgument(`${field}: expected at most ${mostStops}, found ${stops.length}`);
}

/** @param here where the base is now */
export function createPlaces(mapType: MapType, here: () => Position): Places {
  const locations = new NamedStore<ReturnType<typeof locationOf>>('location');
  const routes = new NamedStore<ReturnType<typeof routeOf>>('route');
  const zones = new NamedStore<Zone>('zone');
  const locationOf = (name: string, position: Position) => create(LocationSchema, { name, position });
  const routeOf = (name: string, waypoints: Waypoint[]) => {
    checkStops(waypoints, 'waypoints');
    for (const [at, { value }] of waypoints.entries()) checkWaypoint(value, mapType, `waypoints[${at}]`);
    return create(RouteSchema, { name, waypoints });
  };
  const stopAt = (name: string): Stop => ({ location: name, position: locations.get(name).position ?? here() });
  const methods: PlaceMethods = {
    async addLocation({ locationName, position = here() }) {
      return { location: locations.add(locationOf(locationName, checkPosition(position, mapType, 'position'))) };
    },
    getLocation: async ({ locationName }) => ({ location: locations.get(locationName) }),
    listLocations: async () => ({ locations: locations.list() }),
    async updateLocation({ locationName, newName = locationName, position }) {
      const wanted = position ?? locations.get(locationName).position;
      const location = locationOf(newName, checkPosition(wanted, mapType, 'position'));
      return { location: locations.update(locationName, location) };
    },
    async deleteLocation({ locationName }) {
      locations.delete(locationName);
    },
    addRoute: async ({ routeName, waypoints }) => ({ route: routes.add(routeOf(routeName, waypoints)) }),
    getRoute: async ({ routeName }) => ({ route: routes.get(routeName) }),
    listRoutes: async () => ({ routes: routes.list() }),
    async updateRoute({ routeName, newName = routeName, waypoints }) {
      const wanted = waypoints?.waypoints ?? routes.get(routeName).waypoints;
      return { route: routes.update(routeName, routeOf(newName, wanted)) };
    },
    async deleteRoute({ routeName }) {
      routes.delete(routeName);
    },
    addZone: async ({ zoneName, type, geometry, maxSpeed }) => ({
      zone: zones.add(checkZone(create(ZoneSchema, zoneInit(zoneName, { type, geometry, maxSpeed })))),
    }),
    getZone: async ({ zoneName }) => ({ zone: zones.get(zoneName) }),
    listZones: async ({ type }) => ({ zones: zones.list().filter((zone) => type === '' || zone.type === type) }),
    async updateZone({ zoneName, newName = zoneName, type, geometry, maxSpeed }) {
      const before = zones.get(zoneName);
      const zone = create(ZoneSchema, zoneInit(newName, { type, geometry, maxSpeed }, before));
      return { zone: zones.update(zoneName, checkZone(zone)) };
    },
    async deleteZone({ zoneName }) {
      zones.delete(zoneName);
    },
  };
  return {
    methods,
    stopAt,
    stopsOf(waypoints) {
      checkStops(waypoints, 'waypoints');
      return waypoints.map(({ value }, at) => {
        checkWaypoint(value, mapType, `waypoints[${at}]`);
        return value.case === 'location' ? stopAt(value.value) : { position: value.value as Position };
      });
    },
    waypointsOf: (routeName) => routes.get(routeName).waypoints,
  };
}

function checkWaypoint({ case: kind, value }: Waypoint['value'], mapType: MapType, field: string): void {
  if (kind === 'position') checkPosition(value, mapType, `${field}.position`);
  else if (kind === undefined || value === '')
    throw invalidArgument(`${field}: expected the name of a location or a position, found none`);
}

type ZoneRule = { readonly [K in 'type' | 'geometry' | 'maxSpeed']?: Zone[K] | undefined };

/** @param before for what is absent in the rule */
function zoneInit(name: string, rule: ZoneRule, before: ZoneRule = {}) {
  const { type = before.type, geometry = before.geometry, maxSpeed = before.maxSpeed } = rule;
  return {
    name,
    ...(type !== undefined && { type }),
    ...(geometry !== undefined && { geometry }),
    ...(maxSpeed !== undefined && { maxSpeed }),
  };
}

function checkZone(zone: Zone): Zone {
  const { type, geometry = {}, maxSpeed } = zone;
  if (type !== 'keepout' && type !== 'speed_limit') throw invalidValue('type', '"keepout" or "speed_limit"', type);
  if (Object.keys(geometry).length === 0)
    throw invalidArgument('geometry: expected a circle, a box or a polygon, found none');
  if (type === 'speed_limit' && !(maxSpeed !== undefined && maxSpeed > 0))
    throw invalidValue('max_speed', 'more than 0 m/s for a zone of type speed_limit', maxSpeed);
  return zone;
}
