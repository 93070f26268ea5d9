import { ArmService } from '@platform/proto/platform/component/arm/v1/arm';
import { FakeClock } from '@platform/testkit';
import { expect, test } from 'vitest';
import { buildModel, clientOf } from '../../../testing/build-model.ts';
import { createFakeArm } from './fake.ts';

const y = { x: 0, y: 1, z: 0 };
/** Two links of 100 mm that turn about y. */
const kinematics = {
  ...{ name: 'two', kinematic_param_type: 'SVA' },
  links: [
    { id: 'upper', parent: 'shoulder', translation: { x: 0, y: 0, z: 100 } },
    { id: 'lower', parent: 'elbow', translation: { x: 0, y: 0, z: 100 } },
  ],
  joints: [
    { id: 'shoulder', type: 'revolute', parent: 'world', axis: y },
    { id: 'elbow', type: 'revolute', parent: 'upper', axis: y },
  ],
};
const name = 'it';

test('an arm with kinematics: its end is where the joints put it, and the joints go where its end shall be', async () => {
  const arm = clientOf(ArmService, await buildModel(createFakeArm(new FakeClock()), { kinematics }));
  const { kinematicsData } = await arm.getKinematics({ name });
  expect(JSON.parse(new TextDecoder().decode(kinematicsData))).toEqual(kinematics);
  expect((await arm.getEndPosition({ name })).pose).toMatchObject({ x: 0, y: 0, z: 200 });
  await arm.moveToJointPositions({ name, positions: { values: [90, 0] } });
  const lying = (await arm.getEndPosition({ name })).pose;
  expect(lying).toMatchObject({ x: expect.closeTo(200, 6), z: expect.closeTo(0, 6), oX: expect.closeTo(1, 6) });

  await arm.moveToJointPositions({ name, positions: { values: [30, 50] } });
  const { pose } = await arm.getEndPosition({ name });
  await arm.moveToJointPositions({ name, positions: { values: [10, 20] } });
  if (pose === undefined) throw new Error('expected a pose');
  await arm.moveToPosition({ name, to: pose });
  expect((await arm.getJointPositions({ name })).positions?.values).toEqual([
    ...[expect.closeTo(30, 3), expect.closeTo(50, 3)],
  ]);
  await expect(arm.moveToPosition({ name, to: { ...pose, y: 50 } })).rejects.toThrow('to: expected a pose that');
  await expect(arm.moveToJointPositions({ name, positions: { values: [1] } })).rejects.toThrow('expected 2 angles');
});

test('kinematics that are no chain are named', async () => {
  await expect(buildModel(createFakeArm(new FakeClock()), { kinematics: {} })).rejects.toThrow(
    'kinematics: expected "kinematic_param_type" SVA',
  );
});
