import { NavigationService } from '@platform/proto/platform/service/navigation/v1/navigation';
import type { ResourceDescriptor } from '../resource-descriptor.ts';
import { type ServiceResource, serviceType } from '../service-type.ts';

/** What `GetProperties` may say is not supported, and the methods of clients up to API 0.1.577. */
const optional = [
  'navigateToLocation',
  'navigateToPoint',
  'planToPoint',
  'planToLocation',
  'executePlan',
  'addRoute',
  'getRoute',
  'listRoutes',
  'updateRoute',
  'deleteRoute',
  'navigateRoute',
  'addZone',
  'getZone',
  'listZones',
  'updateZone',
  'deleteZone',
  'getCostmap',
  'getMode',
  'setMode',
  'getWaypoints',
  'addWaypoint',
  'removeWaypoint',
  'getObstacles',
  'getPaths',
] as const;

/** Drives a base on a map. Lengths in m, poses in mm. */
export type Navigation = ServiceResource<typeof NavigationService, (typeof optional)[number]>;

export const navigation: ResourceDescriptor<Navigation, typeof NavigationService> = serviceType({
  api: 'core:service:navigation',
  service: NavigationService,
  optional,
});
