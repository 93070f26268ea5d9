import { DiscoveryService } from '@platform/proto/platform/service/discovery/v1/discovery';
import type { ResourceDescriptor } from '../resource-descriptor.ts';
import { type ServiceResource, serviceType } from '../service-type.ts';

/** Finds resources that could be configured. */
export type Discovery = ServiceResource<typeof DiscoveryService>;

export const discovery: ResourceDescriptor<Discovery, typeof DiscoveryService> = serviceType({
  api: 'core:service:discovery',
  service: DiscoveryService,
});
