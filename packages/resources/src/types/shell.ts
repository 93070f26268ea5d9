import { ShellService } from '@platform/proto/platform/service/shell/v1/shell';
import type { ResourceDescriptor } from '../resource-descriptor.ts';
import { type ServiceResource, serviceType } from '../service-type.ts';

/** A shell of the machine, and copies of files. */
export type Shell = ServiceResource<typeof ShellService>;

export const shell: ResourceDescriptor<Shell, typeof ShellService> = serviceType({
  api: 'core:service:shell',
  service: ShellService,
  nameFields: ['name', 'metadata.name'],
});
