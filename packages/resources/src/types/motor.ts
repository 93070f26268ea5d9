import { MotorService } from '@platform/proto/platform/component/motor/v1/motor';
import type { ResourceDescriptor } from '../resource-descriptor.ts';
import { answerCapture, type ServiceResource, serviceType } from '../service-type.ts';

/** A rotating motor. Powers from −1 to 1, positions in revolutions, speeds in revolutions per minute. */
export type Motor = ServiceResource<typeof MotorService>;

export const motor: ResourceDescriptor<Motor, typeof MotorService> = serviceType({
  api: 'core:component:motor',
  service: MotorService,
  captures: {
    Position: answerCapture(MotorService.method.getPosition),
    IsPowered: answerCapture(MotorService.method.isPowered),
  },
});
