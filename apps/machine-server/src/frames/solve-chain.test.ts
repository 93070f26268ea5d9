import { expect, test } from 'vitest';
import { readChain } from './kinematics.ts';
import { poseFields, rigidPose } from './pose.ts';
import { solveChain } from './solve-chain.ts';

const link = (id: string, parent: string, z: number, x = 0): object => ({ id, parent, translation: { x, y: 0, z } });
const joint = (id: string, parent: string, axis: object): object => ({ id, type: 'revolute', parent, axis });
const [x, y, z] = [
  { x: 1, y: 0, z: 0 },
  { x: 0, y: 1, z: 0 },
  { x: 0, y: 0, z: 1 },
];
const sixAxes = readChain({
  kinematic_param_type: 'SVA',
  links: [link('base', 'world', 200), link('upper', 'j2', 300), link('lower', 'j3', 300), link('hand', 'j6', 80)],
  joints: [
    ...[joint('j1', 'base', z), joint('j2', 'j1', y), joint('j3', 'upper', y)],
    ...[joint('j4', 'lower', z), joint('j5', 'j4', y), joint('j6', 'j5', z)],
  ],
});

test('joints are found for poses that a chain can reach from its current position', () => {
  let from: readonly number[] = [10, 20, 30, 10, 20, 10];
  for (const angles of [
    [0, 30, 60, 0, 45, 0],
    [40, 10, 80, 20, -30, 90],
    [-120, 50, 40, -60, 70, 10],
  ]) {
    const wanted = sixAxes.poseAt(angles);
    const found = solveChain(sixAxes, wanted, from);
    expect(found).toBeDefined();
    const reached = poseFields(sixAxes.poseAt(found ?? []));
    for (const [key, value] of Object.entries(poseFields(wanted)))
      expect(reached).toHaveProperty(key, expect.closeTo(Number(value), 3));
    from = found ?? from;
  }
});

test('a joint that slides is moved in mm', () => {
  const rail = readChain({
    kinematic_param_type: 'SVA',
    links: [],
    joints: [{ id: 'r', type: 'prismatic', parent: 'world', axis: x }],
  });
  const wanted = rigidPose({ x: 250, y: 0, z: 0, oX: 0, oY: 0, oZ: 1, theta: 0 });
  expect(solveChain(rail, wanted, [0])).toEqual([expect.closeTo(250, 3)]);
});

test('a pose out of reach has no joints', () => {
  const far = rigidPose({ x: 5_000, y: 0, z: 0, oX: 0, oY: 0, oZ: 1, theta: 0 });
  expect(solveChain(sixAxes, far, [0, 30, 60, 0, 45, 0])).toBeUndefined();
});
