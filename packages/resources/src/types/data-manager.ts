import { DataManagerService } from '@platform/proto/platform/service/datamanager/v1/data_manager';
import type { ResourceDescriptor } from '../resource-descriptor.ts';
import { type ServiceResource, serviceType } from '../service-type.ts';

/** Captures data and syncs it. */
export type DataManager = ServiceResource<typeof DataManagerService>;

export const dataManager: ResourceDescriptor<DataManager, typeof DataManagerService> = serviceType({
  api: 'core:service:data_manager',
  service: DataManagerService,
});
