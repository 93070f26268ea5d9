import { GenericService } from '@platform/proto/platform/component/generic/v1/generic';
import type { ResourceDescriptor } from '../resource-descriptor.ts';
import { type ServiceResource, serviceType } from '../service-type.ts';

/** A component that only takes commands of its own. */
export type GenericComponent = ServiceResource<typeof GenericService>;

export const genericComponent: ResourceDescriptor<GenericComponent, typeof GenericService> = serviceType({
  api: 'core:component:generic',
  service: GenericService,
});
