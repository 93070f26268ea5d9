import { AudioOutService } from '@platform/proto/platform/component/audioout/v1/audioout';
import type { ResourceDescriptor } from '../resource-descriptor.ts';
import { type ServiceResource, serviceType } from '../service-type.ts';

/** A sink of sound. */
export type AudioOut = ServiceResource<typeof AudioOutService, 'playStream'>;

export const audioOut: ResourceDescriptor<AudioOut, typeof AudioOutService> = serviceType({
  api: 'core:component:audio_out',
  service: AudioOutService,
  nameFields: ['init.name'],
  optional: ['playStream'],
  capturesCommands: false,
});
