import { SensorService } from '@platform/proto/platform/component/sensor/v1/sensor';
import type { ResourceDescriptor } from './resource-descriptor.ts';

/** A component that returns named readings. */
export const sensor: ResourceDescriptor & { readonly service: typeof SensorService } = {
  api: 'core:component:sensor',
  service: SensorService,
};
