import { create } from '@bufbuild/protobuf';
import { GetKinematicsResponseSchema, JointType } from '@platform/proto/platform/common/v1/common';
import { expect, test } from 'vitest';
import { type Arm, arm } from './types.ts';

type Answer = Parameters<typeof create<typeof GetKinematicsResponseSchema>>[1];
const call = { signal: new AbortController().signal };

async function kinematicsOf(answer: Answer): Promise<unknown> {
  const own = { getKinematics: async () => create(GetKinematicsResponseSchema, answer) } as unknown as Arm;
  const data = await arm.motion?.kinematics(own, call);
  return data && JSON.parse(new TextDecoder().decode(data));
}

test('the frame system reads the kinematics of an arm that has them only in messages', async () => {
  const turned = { case: 'eulerAngles', value: { yaw: 180 } } as const;
  const model = {
    name: 'arm',
    links: [
      { id: 'post', pose: { translation: { z: 100 }, orientation: turned } },
      { id: 'end', parent: 'slide' },
    ],
    joints: [
      { id: 'turn', parent: 'post', type: JointType.CONTINUOUS, axis: { z: 1 } },
      { id: 'slide', parent: 'turn', type: JointType.PRISMATIC, axis: { x: 1 }, limits: { min: 0, max: 50 } },
    ],
  };
  expect(await kinematicsOf({ model })).toEqual({
    ...{ name: 'arm', kinematic_param_type: 'SVA' },
    links: [
      {
        ...{ id: 'post', parent: 'world', translation: { x: 0, y: 0, z: 100 } },
        orientation: { type: 'euler_angles', value: { roll: 0, pitch: 0, yaw: Math.PI } },
      },
      { id: 'end', parent: 'slide', translation: { x: 0, y: 0, z: 0 } },
    ],
    joints: [
      { id: 'turn', parent: 'post', type: 'revolute', axis: { x: 0, y: 0, z: 1 } },
      { id: 'slide', parent: 'turn', type: 'prismatic', axis: { x: 1, y: 0, z: 0 }, min: 0, max: 50 },
    ],
  });
  const mimic = { joint: 'turn', multiplier: 2, offset: 0 };
  expect(await kinematicsOf({ model: { joints: [{ id: 'finger', mimic }] } })).toBeUndefined();
  expect(await kinematicsOf({})).toBeUndefined();
});
