import { InputControllerService } from '@platform/proto/platform/component/inputcontroller/v1/input_controller';
import type { ResourceDescriptor } from '../resource-descriptor.ts';
import { type ServiceResource, serviceType } from '../service-type.ts';

/** A gamepad or another device that a person operates. */
export type InputController = ServiceResource<typeof InputControllerService>;

export const inputController: ResourceDescriptor<InputController, typeof InputControllerService> = serviceType({
  api: 'core:component:input_controller',
  service: InputControllerService,
  nameFields: ['controller'],
});
