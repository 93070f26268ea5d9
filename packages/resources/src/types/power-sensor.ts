import { PowerSensorService } from '@platform/proto/platform/component/powersensor/v1/powersensor';
import type { ResourceDescriptor } from '../resource-descriptor.ts';
import { answerCapture, type ServiceResource, serviceType } from '../service-type.ts';

/** Measures voltage, current and power. */
export type PowerSensor = ServiceResource<typeof PowerSensorService>;

export const powerSensor: ResourceDescriptor<PowerSensor, typeof PowerSensorService> = serviceType({
  api: 'core:component:power_sensor',
  service: PowerSensorService,
  captures: {
    Voltage: answerCapture(PowerSensorService.method.getVoltage),
    Current: answerCapture(PowerSensorService.method.getCurrent),
    Power: answerCapture(PowerSensorService.method.getPower),
  },
});
