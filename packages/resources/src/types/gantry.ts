import { create } from '@bufbuild/protobuf';
import { GantryService, GetPositionRequestSchema } from '@platform/proto/platform/component/gantry/v1/gantry';
import type { ResourceDescriptor } from '../resource-descriptor.ts';
import { answerCapture, type ServiceResource, serviceType, svaOf } from '../service-type.ts';

/** Linear axes. Lengths in mm. */
export type Gantry = ServiceResource<typeof GantryService>;

export const gantry: ResourceDescriptor<Gantry, typeof GantryService> = serviceType<Gantry, typeof GantryService>({
  api: 'core:component:gantry',
  service: GantryService,
  captures: {
    Lengths: answerCapture(GantryService.method.getLengths),
    Position: answerCapture(GantryService.method.getPosition),
  },
  motion: {
    kinematics: svaOf,
    joints: async (gantry, call) =>
      (await gantry.getPosition(create(GetPositionRequestSchema), call)).positionsMm ?? [],
  },
});
