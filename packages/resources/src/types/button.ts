import { ButtonService } from '@platform/proto/platform/component/button/v1/button';
import type { ResourceDescriptor } from '../resource-descriptor.ts';
import { type ServiceResource, serviceType } from '../service-type.ts';

/** Something that can be pushed. */
export type Button = ServiceResource<typeof ButtonService>;

export const button: ResourceDescriptor<Button, typeof ButtonService> = serviceType({
  api: 'core:component:button',
  service: ButtonService,
});
