import { SwitchService } from '@platform/proto/platform/component/switch/v1/switch';
import type { ResourceDescriptor } from '../resource-descriptor.ts';
import { type ServiceResource, serviceType } from '../service-type.ts';

/** A device with discrete positions, counted from 0. */
export type Switch = ServiceResource<typeof SwitchService>;

export const switchType: ResourceDescriptor<Switch, typeof SwitchService> = serviceType({
  api: 'core:component:switch',
  service: SwitchService,
});
