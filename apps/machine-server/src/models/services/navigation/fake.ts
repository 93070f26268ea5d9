/**
 * `core:builtin:fake`: a navigation service that keeps locations, routes and zones, and pretends to drive, straight from stop to stop: it
 * moves no base, and its zones have no effect.
 *
 * Attributes: `latitude` and `longitude` (degrees), where it starts, on the globe; without them it starts at the origin of a local map, and
 * GetPaths is UNIMPLEMENTED. `m_per_sec` (default 0: it arrives at once), its speed. A caller that waits for a goal and goes away cancels
 * it. Clients up to API 0.1.577 have their own methods: see replaced-methods.ts. See fake-model.ts for `errors` and `delays_ms`.
 */
import { create } from '@bufbuild/protobuf';
import { type Clock, invalidArgument, invalidValue } from '@platform/base';
import {
  type GoToPointRequest,
  MapType,
  type NavigateRouteRequest,
  NavMode,
  type Plan,
  PlanSchema,
  type Position,
} from '@platform/proto/platform/service/navigation/v1/navigation';
import { type Navigation, navigation } from '@platform/resources';
import type { Model } from '../../../graph/model.ts';
import { fakeModel } from '../../fake/fake-model.ts';
import { freeCostmap } from './costmap.ts';
import { Drive, type GoalWish, type Stop } from './drive.ts';
import { checkStops, createPlaces } from './places.ts';
import { checkPosition, distanceM, lengthM, startPosition } from './positions.ts';
import { replacedMethods } from './replaced-methods.ts';

const fields = {
  latitude: { kind: 'float', min: -90, max: 90 },
  longitude: { kind: 'float', min: -180, max: 180 },
  m_per_sec: { kind: 'float', default: 0, min: 0 },
} as const;

export const createFakeNavigation: (clock: Clock) => Model = fakeModel<Navigation, typeof fields>({
  type: navigation,
  fields,
  make({ latitude, longitude, m_per_sec: speedMPerSec }, clock) {
    const start = latitude === undefined || longitude === undefined ? undefined : { latitude, longitude };
    const mapType = start === undefined ? MapType.LOCAL : MapType.GPS;
    const drive = new Drive(clock, startPosition(start));
    const places = createPlaces(mapType, () => drive.position);
    const status = () => ({ status: drive.status });
    const stopAt = (position: Position | undefined): Stop => ({
      position: checkPosition(position, mapType, 'destination'),
    });
    const planTo = ({ position, location }: Stop, from: Position = drive.position): Plan => {
      const path = [checkPosition(from, mapType, 'start'), position];
      return create(PlanSchema, { path, lengthM: lengthM(path), ...(location !== undefined && { location }) });
    };
    const begin = (mode: NavMode, stops: readonly Stop[], speed = speedMPerSec) => {
      drive.begin({ mode, stops, speedMPerSec: speed });
      return status();
    };
    const goTo = async (
      stop: Stop,
      { wait = true, linearMPerSec: speed }: Pick<GoToPointRequest, 'wait' | 'linearMPerSec'>,
      signal: AbortSignal,
    ) => {
      if (speed !== undefined && !(speed > 0)) throw invalidValue('linear_m_per_sec', 'more than 0', speed);
      begin(NavMode.DIRECT, [stop], speed);
      if (wait) await drive.settled(signal);
      return status();
    };
    return {
      ...places.methods,
      ...replacedMethods(start),
      navigateToLocation: async ({ locationName }) => begin(NavMode.PLANNED, [places.stopAt(locationName)]),
      navigateToPoint: async ({ destination }) => begin(NavMode.PLANNED, [stopAt(destination)]),
      async navigateRoute(request, { signal }) {
        const waypoints = request.routeName === '' ? request.waypoints : places.waypointsOf(request.routeName);
        const stops = places.stopsOf(waypoints);
        const { routeName: name, loop, wait } = request;
        const index = firstStop(request, stops, drive.position);
        const route: GoalWish['route'] = { name, waypoints, index, loop };
        drive.begin({ mode: NavMode.ROUTE, stops, speedMPerSec, route });
        if (wait) await drive.settled(signal);
        return status();
      },
      planToPoint: async ({ destination, start: from }) => ({ plan: planTo(stopAt(destination), from) }),
      planToLocation: async ({ locationName, start: from }) => ({ plan: planTo(places.stopAt(locationName), from) }),
      async executePlan({ plan }) {
        checkStops(plan?.path ?? [], 'plan.path');
        const stops = (plan?.path ?? []).map((position, at) => ({
          ...{ position: checkPosition(position, mapType, `plan.path[${at}]`), location: plan?.location },
        }));
        if (stops.length === 0) throw invalidArgument('plan: expected the plan of PlanTo…, found no path');
        return begin(NavMode.PLANNED, stops);
      },
      goToLocation: ({ locationName, ...how }, { signal }) => goTo(places.stopAt(locationName), how, signal),
      goToPoint: ({ destination, ...how }, { signal }) => goTo(stopAt(destination), how, signal),
      async suspend({ reason }) {
        drive.suspend(reason);
        return status();
      },
      async resume() {
        drive.resume();
        return status();
      },
      async cancel() {
        drive.cancel();
        return status();
      },
      getPosition: async () => ({ position: drive.position }),
      getNavigationStatus: async () => status(),
      getProperties: async () => ({
        properties: {
          ...{ mapType, footprintLengthM: 0.5, footprintWidthM: 0.5, robotRadiusM: 0.35 },
          ...{ planningSupported: true, costmapSupported: true, zonesSupported: true, routesSupported: true },
        },
      }),
      getCostmap: async (request) => freeCostmap(request, drive.position),
      async close() {
        drive.cancel();
      },
    };
  },
});

/** The index of the stop where the route begins. */
function firstStop(request: NavigateRouteRequest, stops: readonly Stop[], from: Position): number {
  const { routeName, waypoints, startIndex, startNearest } = request;
  if (routeName !== '' && waypoints.length > 0)
    throw invalidArgument('route_name: expected the name of a saved route or waypoints, found both');
  if (stops.length === 0) throw invalidArgument('waypoints: expected at least one waypoint, found none');
  if (!startNearest && startIndex >= stops.length)
    throw invalidValue('start_index', `0 to ${stops.length - 1}`, startIndex);
  if (!startNearest) return startIndex;
  const distances = stops.map(({ position }) => distanceM(from, position));
  return distances.indexOf(Math.min(...distances));
}
