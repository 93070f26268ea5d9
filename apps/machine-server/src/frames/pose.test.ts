import { orientationInit, orientationVectorOf } from '@platform/machine-config/frame';
import { rollingSeed, seededRandom } from '@platform/testkit';
import { expect, test } from 'vitest';
import { compose, identity, invert, placed, poseFields, rigidPose } from './pose.ts';

const at = { x: 0, y: 0, z: 0 };
const half = Math.SQRT1_2;

/** The direction of a turned frame's x axis, rounded. */
function xAxis(orientation: Parameters<typeof orientationInit>[0]): number[] {
  const pose = rigidPose({ ...at, ...orientationVectorOf(orientationInit(orientation)) });
  const { x, y, z } = placed(pose, { x: 1, y: 0, z: 0 });
  return [x, y, z].map((value) => Math.round(value * 1e6) / 1e6 + 0);
}

test('every kind of orientation gives the same quarter turn about z: x becomes y', () => {
  for (const orientation of [
    { type: 'quaternion', value: { w: half, x: 0, y: 0, z: half } },
    { type: 'euler_angles', value: { roll: 0, pitch: 0, yaw: Math.PI / 2 } },
    { type: 'axis_angles', value: { x: 0, y: 0, z: 1, th: Math.PI / 2 } },
    { type: 'ov_radians', value: { x: 0, y: 0, z: 1, th: Math.PI / 2 } },
    { type: 'ov_degrees', value: { x: 0, y: 0, z: 1, th: 90 } },
  ])
    expect([orientation.type, xAxis(orientation)]).toEqual([orientation.type, [0, 1, 0]]);
});

test('an orientation vector gives the direction of the z axis, and turns about it', () => {
  const sideways = { type: 'ov_degrees', value: { x: 1, y: 0, z: 0, th: 0 } };
  expect(xAxis(sideways)).toEqual([0, 0, -1]);
  const down = { type: 'ov_degrees', value: { x: 0, y: 0, z: -1, th: 90 } };
  expect(xAxis(down)).toEqual([0, 1, 0]);
});

test('poses survive conversion to messages, and a pose times its inverse is the identity', () => {
  const seed = rollingSeed();
  const share = seededRandom(seed);
  const random = (): number => share() * 2 - 1;
  for (let round = 0; round < 200; round++) {
    const [oX, oY, oZ] = [random(), random(), random()];
    const fields = { x: random() * 1e3, y: random() * 1e3, z: random() * 1e3, oX, oY, oZ, theta: random() * 180 };
    const pose = rigidPose(fields);
    const point = { x: random(), y: random(), z: random() };
    const again = placed(rigidPose(poseFields(pose)), point);
    const direct = placed(pose, point);
    const back = placed(compose(invert(pose), pose), point);
    for (const axis of ['x', 'y', 'z'] as const) {
      expect(again[axis], `FAULT_SEED=${seed}`).toBeCloseTo(direct[axis], 6);
      expect(back[axis], `FAULT_SEED=${seed}`).toBeCloseTo(point[axis], 6);
    }
  }
  expect(poseFields(identity)).toEqual({ x: 0, y: 0, z: 0, oX: 0, oY: 0, oZ: 1, theta: 0 });
});
