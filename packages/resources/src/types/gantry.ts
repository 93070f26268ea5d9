import { GantryService } from '@platform/proto/platform/component/gantry/v1/gantry';
import type { ResourceDescriptor } from '../resource-descriptor.ts';
import { answerCapture, type ServiceResource, serviceType } from '../service-type.ts';

/** Linear axes. Lengths in mm. */
export type Gantry = ServiceResource<typeof GantryService>;

export const gantry: ResourceDescriptor<Gantry, typeof GantryService> = serviceType({
  api: 'core:component:gantry',
  service: GantryService,
  captures: {
    Lengths: answerCapture(GantryService.method.getLengths),
    Position: answerCapture(GantryService.method.getPosition),
  },
});
