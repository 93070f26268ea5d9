import { BaseRemoteControlService } from '@platform/proto/platform/service/baseremotecontrol/v1/base_remote_control';
import type { ResourceDescriptor } from '../resource-descriptor.ts';
import { type ServiceResource, serviceType } from '../service-type.ts';

/** Drives a base with an input controller of the same machine. */
export type BaseRemoteControl = ServiceResource<typeof BaseRemoteControlService>;

export const baseRemoteControl: ResourceDescriptor<BaseRemoteControl, typeof BaseRemoteControlService> = serviceType({
  api: 'core:service:base_remote_control',
  service: BaseRemoteControlService,
});
