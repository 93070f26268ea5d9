/**
 * The default fake arm: a waist, a shoulder and an elbow that bring its end to a point, and a wrist of three axes through that point, which
 * turns it. Both links are half as long as its reach, so that it can reach every point in every orientation, with joint angles in closed
 * form. At 0° the lower link lies folded along the upper one, with the end at the base. Pure.
 */
import type { JsonObject } from '@bufbuild/protobuf';
import { compose, identity, invert, placed, type RigidPose, turn } from '../../../frames/pose.ts';

const [y, z] = [
  { x: 0, y: 1, z: 0 },
  { x: 0, y: 0, z: 1 },
];
const degrees = 180 / Math.PI;
/** In mm, as the sine of an angle, and in degrees: smaller distances count as zero. */
const onAxis = 1e-9;
/** In mm: rounding may put a pose that the arm itself reported this far out of reach. */
export const rounding = 1e-6;

/** Its joints, from the base to the end, all in degrees. */
type Joints = readonly [waist: number, shoulder: number, elbow: number, roll: number, pitch: number, yaw: number];

/** Its kinematics in the SVA format. @param most the largest angle of each joint, in degrees */
export function wristArmKinematics(reachMm: number, most: number): JsonObject {
  const joint = (id: string, parent: string, axis: typeof y): JsonObject => ({
    ...{ id, type: 'revolute', parent, axis, min: -most, max: most },
  });
  return {
    ...{ name: 'fake', kinematic_param_type: 'SVA' },
    links: [
      { id: 'upper_link', parent: 'shoulder', translation: { x: 0, y: 0, z: reachMm / 2 } },
      { id: 'lower_link', parent: 'elbow', translation: { x: 0, y: 0, z: -reachMm / 2 } },
    ],
    joints: [
      ...[joint('waist', 'world', z), joint('shoulder', 'waist', y), joint('elbow', 'upper_link', y)],
      ...[
        joint('wrist_roll', 'lower_link', z),
        joint('wrist_pitch', 'wrist_roll', y),
        joint('wrist_yaw', 'wrist_pitch', z),
      ],
    ],
  };
}

/**
 * The angles of the joints at which the end has a pose: the solution nearest to the current angles.
 *
 * @param most the largest angle either way, in degrees @returns undefined if the pose is out of reach, or the joints cannot turn so far
 */
export function wristArmJoints(
  wanted: RigidPose,
  from: readonly number[],
  { reachMm, most }: { readonly reachMm: number; readonly most: number },
): readonly number[] | undefined {
  let best: readonly number[] | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const solution of wristArmWays(wanted, from, reachMm)) {
    const near = solution.map((angle, at) => nearest(angle, from[at] ?? 0, most));
    const far = Math.max(...near.map((angle, at) => Math.abs(angle - (from[at] ?? 0))));
    // NaN, where an angle is beyond the limit, is not less.
    if (far < least) [best, least] = [near, far];
  }
  return best;
}

/**
 * All solutions for the pose: the waist may face it or turn its back, the elbow and the wrist may bend either way.
 *
 * @param from the current angles of its six joints, which those that do not matter keep
 */
export function* wristArmWays(
  wanted: RigidPose,
  from: readonly number[],
  reachMm: number,
): Generator<readonly number[], void> {
  const [waistNow, shoulderNow, , rollNow] = from as Joints;
  const { point, rotation } = wanted;
  const distance = Math.hypot(point.x, point.y, point.z);
  if (!(distance <= reachMm + rounding)) return;
  const across = Math.hypot(point.x, point.y);
  const facing = across < onAxis ? waistNow / degrees : Math.atan2(point.y, point.x);
  for (const [waist, ahead] of [
    [facing, across],
    [facing + Math.PI, -across],
  ] as const)
    for (const bend of [1, -1]) {
      const elbow = -bend * 2 * Math.asin(reachMm === 0 ? 0 : Math.min(1, distance / reachMm));
      // The two links and the line to the point form an isosceles triangle.
      const middle = distance < onAxis ? shoulderNow / degrees : Math.atan2(-bend * point.z, bend * ahead);
      const shoulder = middle - elbow / 2;
      const arm = turned(turned(turned(identity, z, waist), y, shoulder), y, elbow);
      const rest = compose(invert(arm), { ...identity, rotation });
      for (const [roll, pitch, yaw] of wrists(rest, rollNow / degrees))
        yield [waist, shoulder, elbow, roll, pitch, yaw].map((angle) => angle * degrees);
    }
}

/** The rotation as rotations about z, y and z. @param before the current first one, which is kept if it does not matter */
function* wrists(rotation: RigidPose, before: number): Generator<readonly [number, number, number], void> {
  const axis = placed(rotation, z);
  const across = Math.hypot(axis.x, axis.y);
  const direction = across < onAxis ? before : Math.atan2(axis.y, axis.x);
  const tilt = Math.atan2(across, axis.z);
  for (const [roll, pitch] of [
    [direction, tilt],
    [direction + Math.PI, -tilt],
  ] as const) {
    // The remainder is a rotation about z only: even if the first two are inaccurate, all three together are right.
    const { rotation: left } = compose(invert(turned(turned(identity, z, roll), y, pitch)), rotation);
    yield [roll, pitch, 2 * Math.atan2(left.z, left.w)];
  }
}

function turned(pose: RigidPose, axis: typeof y, angle: number): RigidPose {
  return compose(pose, { ...identity, rotation: turn(axis, angle) });
}

/** The same angle, plus or minus whole turns, nearest to the joint's. @returns NaN if it is beyond the limit */
export function nearest(angle: number, from: number, most: number): number {
  const first = angle + 360 * Math.round((from - angle) / 360);
  const allowed = [first, first - 360, first + 360]
    .filter((each) => Math.abs(each) <= most + onAxis)
    .map((each) => Math.max(-most, Math.min(most, each)));
  return allowed.toSorted((a, b) => Math.abs(a - from) - Math.abs(b - from))[0] ?? Number.NaN;
}
