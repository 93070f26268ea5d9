import { ArmService } from '@platform/proto/platform/component/arm/v1/arm';
import { FakeClock } from '@platform/testkit';
import { expect, test } from 'vitest';
import { readChain } from '../../../frames/kinematics.ts';
import { poseFields } from '../../../frames/pose.ts';
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

test('an arm with kinematics: its end follows its joints, and its joints move to the wanted pose', async () => {
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

test('kinematics that are not a chain are reported', async () => {
  await expect(buildModel(createFakeArm(new FakeClock()), { kinematics: {} })).rejects.toThrow(
    'kinematics: expected "kinematic_param_type" SVA',
  );
});

test('an arm without attributes: its kinematics, end and joints agree', async () => {
  const arm = clientOf(ArmService, await buildModel(createFakeArm(new FakeClock()), {}));
  const { kinematicsData } = await arm.getKinematics({ name });
  const chain = readChain(JSON.parse(new TextDecoder().decode(kinematicsData)));
  const jointsAndEnd = async () => {
    const { positions } = await arm.getJointPositions({ name });
    const { pose } = await arm.getEndPosition({ name });
    expect(pose).toMatchObject(poseFields(chain.poseAt(positions?.values ?? [])));
    return pose;
  };
  expect(await jointsAndEnd()).toMatchObject({ x: 0, y: 0, z: 0, oZ: 1, theta: 0 });
  await arm.moveToJointPositions({ name, positions: { values: [10, 20, -70, 40, 50, 60] } });
  const pose = await jointsAndEnd();
  if (pose === undefined) throw new Error('expected a pose');
  await arm.moveToPosition({ name, to: { x: 300, y: -400, z: 1_200, oX: 1, theta: 30 } });
  const there = { x: 300, y: -400, z: 1_200, oX: 1, oY: 0, oZ: 0, theta: 30 };
  for (const [key, value] of Object.entries(there))
    expect(await jointsAndEnd()).toHaveProperty(key, expect.closeTo(value, 6));
  await arm.moveToPosition({ name, to: pose });
  for (const [key, value] of Object.entries({ x: pose.x, y: pose.y, z: pose.z, oX: pose.oX, theta: pose.theta }))
    expect(await jointsAndEnd()).toHaveProperty(key, expect.closeTo(value, 6));
  await expect(arm.moveToPosition({ name, to: { x: 2_001, oZ: 1 } })).rejects.toThrow('expected at most 2000 mm away');
});

test('on the way to a pose, the joints of an arm with mm_per_sec arrive together', async () => {
  const clock = new FakeClock();
  const arm = clientOf(ArmService, await buildModel(createFakeArm(clock), { mm_per_sec: 100 }));
  const moving = arm.moveToPosition({ name, to: { x: 300, oZ: 1 } });
  await clock.advance(2_900);
  expect(await arm.isMoving({ name })).toMatchObject({ isMoving: true });
  await clock.advance(200);
  await moving;
  expect(await arm.isMoving({ name })).toMatchObject({ isMoving: false });
  expect((await arm.getEndPosition({ name })).pose?.x).toBeCloseTo(300, 6);
});

test.each([1, 2, 3, 4, 5, 7, 9])(
  'an arm with %i joints has kinematics, and returns to an earlier position',
  async (count) => {
    const arm = clientOf(ArmService, await buildModel(createFakeArm(new FakeClock()), { joints: count }));
    const { kinematicsData } = await arm.getKinematics({ name });
    const chain = readChain(JSON.parse(new TextDecoder().decode(kinematicsData)));
    const home = (await arm.getEndPosition({ name })).pose;
    const there = [40, -35, 70, 15, 25, 35, -50, 60, 5].slice(0, count);
    await arm.moveToJointPositions({ name, positions: { values: there } });
    const { pose } = await arm.getEndPosition({ name });
    if (pose === undefined || home === undefined) throw new Error('expected poses');
    expect(pose).toMatchObject(poseFields(chain.poseAt(there)));

    for (const wanted of [home, pose, home]) {
      await arm.moveToPosition({ name, to: wanted });
      const reached = (await arm.getEndPosition({ name })).pose;
      for (const key of ['x', 'y', 'z', 'oX', 'oY', 'oZ'] as const)
        expect(reached, key).toHaveProperty(key, expect.closeTo(wanted[key], 4));
    }
  },
);

test('an arm with five joints refuses a pose that needs six, and its error names the number', async () => {
  const arm = clientOf(ArmService, await buildModel(createFakeArm(new FakeClock()), { joints: 5 }));
  const sideways = arm.moveToPosition({ name, to: { x: 300, y: -400, z: 1_200, oX: 1, theta: 30 } });
  await expect(sideways).rejects.toThrow('to: expected a pose that the 5 joints of the arm can reach');
});

test('in manual mode an arm stops and refuses to move, until the mode ends or its time is over', async () => {
  const clock = new FakeClock();
  const arm = clientOf(ArmService, await buildModel(createFakeArm(clock), { joints: 1, deg_per_sec: 10 }));
  expect(await arm.getProperties({ name })).toMatchObject({ supportManualMode: true, supportCartesianCommands: true });
  const move = () => arm.moveToJointPositions({ name, positions: { values: [90] } });
  const moving = move();
  await clock.advance(1_000);
  await arm.setManualMode({ name, manualMode: true, enabledFor: 30 });
  await expect(moving).rejects.toMatchObject({ code: 'aborted' });
  expect(await arm.getManualMode({ name })).toMatchObject({ manualMode: true });
  await expect(move()).rejects.toMatchObject({ code: 'failed_precondition' });
  expect((await arm.getJointPositions({ name })).positions?.values).toEqual([10]);
  await clock.advance(30_000);
  expect(await arm.getManualMode({ name })).toMatchObject({ manualMode: false });
  await arm.setManualMode({ name, manualMode: true });
  await clock.advance(1_000_000);
  expect(await arm.getManualMode({ name })).toMatchObject({ manualMode: true });
  await arm.setManualMode({ name, manualMode: false });
  expect(await arm.getManualMode({ name })).toMatchObject({ manualMode: false });
  await expect(arm.setManualMode({ name, manualMode: true, enabledFor: -1 })).rejects.toThrow('enabled_for');
});
