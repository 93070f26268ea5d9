import { ServoService } from '@platform/proto/platform/component/servo/v1/servo';
import type { ResourceDescriptor } from '../resource-descriptor.ts';
import { answerCapture, type ServiceResource, serviceType } from '../service-type.ts';

/** A motor that keeps an angle, in degrees. */
export type Servo = ServiceResource<typeof ServoService>;

export const servo: ResourceDescriptor<Servo, typeof ServoService> = serviceType({
  api: 'core:component:servo',
  service: ServoService,
  captures: {
    Position: answerCapture(ServoService.method.getPosition),
  },
});
