import { NavigationService } from '@platform/proto/platform/service/navigation/v1/navigation';
import type { ResourceDescriptor } from '../resource-descriptor.ts';
import { type ServiceResource, serviceType } from '../service-type.ts';

/** Drives a base along waypoints. */
export type Navigation = ServiceResource<typeof NavigationService, 'getLocation' | 'getProperties'>;

export const navigation: ResourceDescriptor<Navigation, typeof NavigationService> = serviceType({
  api: 'core:service:navigation',
  service: NavigationService,
  // Newer public clients expect other messages under these names.
  optional: ['getLocation', 'getProperties'],
});
