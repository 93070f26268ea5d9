import { expect, test } from 'vitest';
import { createFrameTree, type Frame } from './frame-tree.ts';
import { readChain } from './kinematics.ts';
import { identity, poseFields } from './pose.ts';

const frame = (name: string, parent: string): Frame => ({ name, parent, offset: identity });

test('frames are listed parents first; one that does not reach world, and a second one of the same name, are omitted and reported', () => {
  const tree = createFrameTree([
    frame('camera', 'gripper'),
    frame('gripper', 'arm_origin'),
    frame('arm', 'world'),
    frame('lost', 'nowhere'),
    frame('egg', 'hen'),
    frame('hen', 'egg'),
    frame('arm', 'camera'),
  ]);
  expect(tree.frames.map(({ name }) => name)).toEqual(['arm', 'gripper', 'camera']);
  expect(tree.problems).toEqual([
    'the frame "arm" exists twice; the first one is used',
    'the frame "lost" does not reach world: its parent "nowhere" has no frame',
    'the frame "egg" does not reach world: it is attached to itself: egg → hen → egg',
    'the frame "hen" does not reach world: it is attached to itself: egg → hen → egg',
  ]);
  expect(tree.path('camera').map(({ frame: { name }, atOrigin }) => [name, atOrigin])).toEqual([
    ['arm', true],
    ['gripper', false],
    ['camera', false],
  ]);
  expect(tree.path('world')).toEqual([]);
  expect(() => tree.path('x')).toThrow(
    'expected a frame of this machine (world, camera, gripper, arm, lost, egg, hen), found "x"',
  );
  expect(() => tree.path('lost')).toThrow('does not reach world');
});

test('the messages about thousands of frames that are attached to themselves are short', () => {
  const count = 3_000;
  const { problems } = createFrameTree(
    Array.from({ length: count }, (_, at) => frame(`f${at}`, `f${(at + 1) % count}`)),
  );
  expect(problems).toHaveLength(count);
  expect(Math.max(...problems.map(({ length }) => length))).toBeLessThan(300);
});

test('a chain of links and joints ends where its joints put it', () => {
  const chain = readChain({
    kinematic_param_type: 'SVA',
    joints: [
      { id: 'slide', type: 'prismatic', parent: 'base', axis: { x: 0, y: 1, z: 0 } },
      { id: 'elbow', type: 'revolute', parent: 'slide', axis: { x: 0, y: 0, z: 1 } },
    ],
    links: [
      { id: 'hand', parent: 'elbow', translation: { x: 100, y: 0, z: 0 } },
      { id: 'base', parent: 'world', translation: { x: 0, y: 0, z: 10 } },
    ],
  });
  expect(chain.joints).toBe(2);
  const end = poseFields(chain.poseAt([5, 90]));
  expect([end.x, end.y, end.z, end.theta].map((value) => Math.round(value * 1e6) / 1e6)).toEqual([0, 105, 10, 90]);
});

test('the error for unusable kinematics says what is wrong', () => {
  const joint = { id: 'j', type: 'revolute', parent: 'world', axis: { x: 0, y: 0, z: 1 } };
  const sva = (...joints: object[]) => ({ kinematic_param_type: 'SVA', links: [], joints }) as never;
  expect(() => readChain({ kinematic_param_type: 'DH' })).toThrow('expected "kinematic_param_type" SVA, found "DH"');
  expect(() => readChain(sva({ ...joint, axis: { x: 0 } }))).toThrow('joint "j": expected an axis');
  expect(() => readChain(sva({ ...joint, type: 'ball' }))).toThrow(
    'expected a type revolute or prismatic, found "ball"',
  );
  expect(() => readChain(sva(joint, { ...joint, parent: 'x' }))).toThrow('found elements outside it: x');
});
