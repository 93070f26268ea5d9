import { create, type JsonObject } from '@bufbuild/protobuf';
import { unimplemented } from '@platform/base/portable';
import { GetStatusRequestSchema } from '@platform/proto/platform/common/v1/common';
import { BaseService } from '@platform/proto/platform/component/base/v1/base';
import type { ResourceDescriptor } from '../resource-descriptor.ts';
import { type ServiceResource, serviceType } from '../service-type.ts';

/** A mobile platform. Lengths in mm, angles in degrees, powers from −1 to 1. */
export type Base = ServiceResource<typeof BaseService>;

export const base: ResourceDescriptor<Base, typeof BaseService> = serviceType({
  api: 'core:component:base',
  service: BaseService,
  captures: {
    // The service has no method for the position: a base that knows it reports it in its status.
    Position: {
      kind: 'tabular',
      async read(resource, _params, { signal }) {
        const answer = await resource.getStatus?.(create(GetStatusRequestSchema), { signal });
        const position = (answer?.result as JsonObject | undefined)?.['position'];
        if (position !== undefined) return { position };
        throw unimplemented('expected `position` in the status of this base, found none');
      },
    },
  },
});
