import { CameraService } from '@platform/proto/platform/component/camera/v1/camera';
import type { ResourceDescriptor } from '../resource-descriptor.ts';
import { type ServiceResource, serviceType } from '../service-type.ts';

/** A source of images and point clouds. */
export type Camera = ServiceResource<typeof CameraService, 'getPointCloud'>;

export const camera: ResourceDescriptor<Camera, typeof CameraService> = serviceType({
  api: 'core:component:camera',
  service: CameraService,
  optional: ['getPointCloud'],
});
