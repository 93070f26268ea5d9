import { GripperService } from '@platform/proto/platform/component/gripper/v1/gripper';
import type { ResourceDescriptor } from '../resource-descriptor.ts';
import { type ServiceResource, serviceType } from '../service-type.ts';

/** Holds objects. */
export type Gripper = ServiceResource<typeof GripperService, 'getCurrentInputs' | 'goToInputs'>;

export const gripper: ResourceDescriptor<Gripper, typeof GripperService> = serviceType({
  api: 'core:component:gripper',
  service: GripperService,
  optional: ['getCurrentInputs', 'goToInputs'],
});
