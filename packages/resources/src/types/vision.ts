import { VisionService } from '@platform/proto/platform/service/vision/v1/vision';
import type { ResourceDescriptor } from '../resource-descriptor.ts';
import { type ServiceResource, serviceType } from '../service-type.ts';

/** Detections, classifications and objects in images. */
export type Vision = ServiceResource<typeof VisionService>;

export const vision: ResourceDescriptor<Vision, typeof VisionService> = serviceType({
  api: 'core:service:vision',
  service: VisionService,
});
