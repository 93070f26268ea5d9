import { AudioInService } from '@platform/proto/platform/component/audioin/v1/audioin';
import type { ResourceDescriptor } from '../resource-descriptor.ts';
import { type ServiceResource, serviceType } from '../service-type.ts';

/** A source of sound. */
export type AudioIn = ServiceResource<typeof AudioInService>;

export const audioIn: ResourceDescriptor<AudioIn, typeof AudioInService> = serviceType({
  api: 'core:component:audio_in',
  service: AudioInService,
});
