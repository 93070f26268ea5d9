import { GenericService as GenericServiceOfWire } from '@platform/proto/platform/service/generic/v1/generic';
import type { ResourceDescriptor } from '../resource-descriptor.ts';
import { type ServiceResource, serviceType } from '../service-type.ts';

/** A service that only takes model-specific commands. */
export type GenericService = ServiceResource<typeof GenericServiceOfWire>;

export const genericService: ResourceDescriptor<GenericService, typeof GenericServiceOfWire> = serviceType({
  api: 'core:service:generic',
  service: GenericServiceOfWire,
});
