import { create, toJson } from '@bufbuild/protobuf';
import { KinematicModelSchema } from '@platform/proto/platform/common/v1/common';
import { expect, test } from 'vitest';
import { kinematicModel } from './kinematic-model.ts';

test('a chain in the SVA format becomes links and joints, with orientations in degrees and limits in their units', () => {
  const kinematics = {
    kinematic_param_type: 'SVA',
    links: [
      {
        ...{ id: 'post', parent: 'world', translation: { x: 0, y: 0, z: 100 } },
        orientation: { type: 'ov_degrees', value: { x: 1, y: 0, z: 0, th: 90 } },
        geometry: { type: 'box', x: 1, y: 2, z: 3 },
      },
    ],
    joints: [
      { id: 'turn', type: 'revolute', parent: 'post', axis: { x: 0, y: 0, z: 1 }, min: -90, max: 90 },
      { id: 'slide', type: 'prismatic', parent: 'turn', axis: { x: 1, y: 0, z: 0 }, min: 0 },
    ],
  };
  expect(toJson(KinematicModelSchema, create(KinematicModelSchema, kinematicModel(kinematics, 'arm')))).toEqual({
    ...{ name: 'arm', outputFrames: ['slide'] },
    links: [
      {
        id: 'post',
        pose: { translation: { z: 100 }, orientationVector: { oX: 1, theta: 90 } },
        collision: [expect.objectContaining({ box: { dimsMm: { x: 1, y: 2, z: 3 } } })],
      },
    ],
    joints: [
      { id: 'turn', parent: 'post', type: 'JOINT_TYPE_REVOLUTE', axis: { z: 1 }, limits: { min: -90, max: 90 } },
      { id: 'slide', parent: 'turn', type: 'JOINT_TYPE_PRISMATIC', axis: { x: 1 }, limits: { min: 0 } },
    ],
  });
});
