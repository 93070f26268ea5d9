import { MotionService } from '@platform/proto/platform/service/motion/v1/motion';
import type { ResourceDescriptor } from '../resource-descriptor.ts';
import { type ServiceResource, serviceType } from '../service-type.ts';

/** Plans and runs motion. */
export type Motion = ServiceResource<typeof MotionService>;

export const motion: ResourceDescriptor<Motion, typeof MotionService> = serviceType({
  api: 'core:service:motion',
  service: MotionService,
});
