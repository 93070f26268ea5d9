import { MovementSensorService } from '@platform/proto/platform/component/movementsensor/v1/movementsensor';
import type { ResourceDescriptor } from '../resource-descriptor.ts';
import { answerCapture, type ServiceResource, serviceType } from '../service-type.ts';

/** Measures position, orientation and motion. Velocities in m/s and degrees/s, accelerations in m/s². */
export type MovementSensor = ServiceResource<typeof MovementSensorService>;

export const movementSensor: ResourceDescriptor<MovementSensor, typeof MovementSensorService> = serviceType({
  api: 'core:component:movement_sensor',
  service: MovementSensorService,
  captures: {
    AngularVelocity: answerCapture(MovementSensorService.method.getAngularVelocity),
    CompassHeading: answerCapture(MovementSensorService.method.getCompassHeading),
    LinearAcceleration: answerCapture(MovementSensorService.method.getLinearAcceleration),
    LinearVelocity: answerCapture(MovementSensorService.method.getLinearVelocity),
    Orientation: answerCapture(MovementSensorService.method.getOrientation),
    Position: answerCapture(MovementSensorService.method.getPosition),
  },
});
