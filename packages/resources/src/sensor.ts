import { SensorService } from '@platform/proto/platform/component/sensor/v1/sensor';
import { commandsOver, commonMethods, doCommandCapture, worldPoseCapture } from './common-methods.ts';
import { getReadings, readingsCapture, readingsOver } from './readings.ts';
import { type Commandable, isCommandable, isReadable, type Readable, type Resource } from './resource.ts';
import type { ResourceDescriptor } from './resource-descriptor.ts';

/** A component that returns named readings. */
export type Sensor = Readable & Commandable;

export const sensor: ResourceDescriptor<Sensor, typeof SensorService> = {
  api: 'core:component:sensor',
  service: SensorService,
  implementedBy: (resource: Resource): resource is Sensor => isReadable(resource) && isCommandable(resource),
  methods: { ...commonMethods, getReadings },
  captures: { Readings: readingsCapture, DoCommand: doCommandCapture, GetWorldPose: worldPoseCapture },
  proxy: (connection) => ({ ...readingsOver(connection, SensorService), ...commandsOver(connection, SensorService) }),
};
