import { BaseService } from '@platform/proto/platform/component/base/v1/base';
import type { ResourceDescriptor } from '../resource-descriptor.ts';
import { type ServiceResource, serviceType } from '../service-type.ts';

/** A mobile platform. Lengths in mm, angles in degrees, powers from −1 to 1. */
export type Base = ServiceResource<typeof BaseService>;

export const base: ResourceDescriptor<Base, typeof BaseService> = serviceType({
  api: 'core:component:base',
  service: BaseService,
});
