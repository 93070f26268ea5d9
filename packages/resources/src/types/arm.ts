import { create } from '@bufbuild/protobuf';
import {
  ArmService,
  GetEndPositionRequestSchema,
  GetJointPositionsRequestSchema,
} from '@platform/proto/platform/component/arm/v1/arm';
import type { ResourceDescriptor } from '../resource-descriptor.ts';
import { answerCapture, type ServiceResource, serviceType, svaOf } from '../service-type.ts';

const optional = ['moveThroughJointPositionsStreamed', 'setManualMode', 'getManualMode', 'getProperties'] as const;

/** A serial chain of joints that moves an end effector. Poses in mm, joints in degrees. */
export type Arm = ServiceResource<typeof ArmService, (typeof optional)[number]>;

export const arm: ResourceDescriptor<Arm, typeof ArmService> = serviceType<Arm, typeof ArmService>({
  api: 'core:component:arm',
  service: ArmService,
  optional,
  captures: {
    EndPosition: answerCapture(ArmService.method.getEndPosition),
    JointPositions: answerCapture(ArmService.method.getJointPositions),
  },
  motion: {
    kinematics: svaOf,
    joints: async (arm, call) =>
      (await arm.getJointPositions(create(GetJointPositionsRequestSchema), call)).positions?.values ?? [],
    end: async (arm, call) => (await arm.getEndPosition(create(GetEndPositionRequestSchema), call)).pose,
  },
});
