import { GenericService } from '@platform/proto/platform/component/generic/v1/generic';
import type { ResourceDescriptor } from '../resource-descriptor.ts';
import { type ServiceResource, serviceType } from '../service-type.ts';

/** A component that only takes model-specific commands. */
export type GenericComponent = ServiceResource<typeof GenericService>;

export const genericComponent: ResourceDescriptor<GenericComponent, typeof GenericService> = serviceType({
  api: 'core:component:generic',
  service: GenericService,
});
