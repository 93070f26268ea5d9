import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readChain } from '../../../frames/kinematics.ts';
import { type RigidPose, rigidPose } from '../../../frames/pose.ts';
import { wristArmJoints, wristArmKinematics } from './wrist-arm.ts';

const [reachMm, most] = [2_000, 360];
const chain = readChain(wristArmKinematics(reachMm, most));
const angle = fc.double({ min: -most, max: most, noNaN: true });
const angles = fc.tuple(angle, angle, angle, angle, angle, angle);
const part = fc.double({ min: -1, max: 1, noNaN: true });

/** The distance of two poses: mm, and mm at a lever of 1 m. */
function between({ point, rotation }: RigidPose, other: RigidPose): number {
  const { w, x, y, z } = rotation;
  const { rotation: of, point: to } = other;
  const cosine = Math.abs(w * of.w + x * of.x + y * of.y + z * of.z);
  const points = Math.hypot(point.x - to.x, point.y - to.y, point.z - to.z);
  return points + 2_000 * Math.sqrt(Math.max(0, 2 - 2 * Math.min(1, cosine)));
}

test('every pose within reach has joints, from any current positions, and at these the end has the pose', () => {
  const direction = fc.tuple(part, part, part).filter(([x, y, z]) => Math.hypot(x, y, z) > 0.01);
  const distance = fc.oneof(fc.constantFrom(0, 1e-12, reachMm), fc.double({ min: 0, max: reachMm, noNaN: true }));
  const onAnAxis = fc
    .constantFrom([0, 0, 1], [0, 0, -1], [1, 0, 0], [0, -1, 0])
    .map(([x = 0, y = 0, z = 0]) => [x, y, z] as const);
  const any = fc.oneof(direction, onAnAxis);
  fc.assert(
    fc.property(
      any,
      distance,
      any,
      fc.double({ min: -180, max: 180, noNaN: true }),
      angles,
      (to, far, pointing, theta, from) => {
        // Rounding must not put it out of reach.
        const scale = (far * (1 - 1e-15)) / Math.hypot(...to);
        const [oX, oY, oZ] = pointing;
        const wanted = rigidPose({ x: to[0] * scale, y: to[1] * scale, z: to[2] * scale, oX, oY, oZ, theta });
        const joints = wristArmJoints(wanted, from, { reachMm, most });
        expect(joints).toHaveLength(6);
        for (const each of joints ?? []) expect(Math.abs(each)).toBeLessThanOrEqual(most);
        expect(between(chain.poseAt(joints ?? []), wanted)).toBeLessThan(1e-3);
      },
    ),
    { numRuns: 2_000 },
  );
});

test('a pose that the joints had is found again, and joints that already have it do not move', () => {
  fc.assert(
    fc.property(angles, angles, (at, from) => {
      const pose = chain.poseAt(at);
      const joints = wristArmJoints(pose, from, { reachMm, most }) ?? [];
      expect(between(chain.poseAt(joints), pose)).toBeLessThan(1e-3);
      const staying = wristArmJoints(pose, at, { reachMm, most }) ?? [];
      // Near a singularity, other angles give the same pose.
      const sineOf = (degrees: number): number => Math.abs(Math.sin((degrees * Math.PI) / 180));
      const isAside = Math.hypot(pose.point.x, pose.point.y) > 1 && sineOf(at[4]) > 0.01;
      if (isAside) for (const [joint, each] of staying.entries()) expect(each).toBeCloseTo(at[joint] ?? Number.NaN, 3);
    }),
    { numRuns: 2_000 },
  );
});

test('a pose out of reach, or beyond the limits of the joints, has none', () => {
  const upright = { oX: 0, oY: 0, oZ: 1, theta: 0 };
  const from = [0, 0, 0, 0, 0, 0];
  const far = rigidPose({ x: 2_000.001, y: 0, z: 0, ...upright });
  expect(wristArmJoints(far, from, { reachMm, most })).toBeUndefined();
  const side = rigidPose({ x: 0, y: 1_000, z: 0, ...upright });
  expect(wristArmJoints(side, from, { reachMm, most: 95 })).toBeDefined();
  expect(wristArmJoints(side, from, { reachMm, most: 45 })).toBeUndefined();
  expect(wristArmJoints(rigidPose({ x: 0, y: 0, z: 0, ...upright }), from, { reachMm, most })).toEqual(from);
});
