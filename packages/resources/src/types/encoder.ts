import { EncoderService } from '@platform/proto/platform/component/encoder/v1/encoder';
import type { ResourceDescriptor } from '../resource-descriptor.ts';
import { answerCapture, type ServiceResource, serviceType } from '../service-type.ts';

/** Counts rotation, in ticks or degrees. */
export type Encoder = ServiceResource<typeof EncoderService>;

export const encoder: ResourceDescriptor<Encoder, typeof EncoderService> = serviceType({
  api: 'core:component:encoder',
  service: EncoderService,
  captures: {
    TicksCount: answerCapture(EncoderService.method.getPosition),
  },
});
