/**
 * The default arm of the fake, without the attribute `kinematics`, for any number of joints: with six, the arm of wrist-arm.ts; with fewer,
 * only its first joints; with more, with turntables below it. Its end, joints and kinematics agree. A pose that its joints cannot reach has
 * no solution. Pure.
 */
import type { JsonObject } from '@platform/machine-config/schema';
import { type Chain, readChain } from '../../../frames/kinematics.ts';
import { compose, identity, invert, type RigidPose, turn } from '../../../frames/pose.ts';
import { solveChain } from '../../../frames/solve-chain.ts';
import { nearest, wristArmJoints, wristArmKinematics, wristArmWays } from './wrist-arm.ts';

export interface ArmKinematics {
  /** In the SVA format. */
  readonly kinematics: JsonObject;
  readonly chain: Chain;
  /** The angles of the joints at which the end has a pose; undefined if it cannot reach the pose. */
  jointsFor(wanted: RigidPose, from: readonly number[]): readonly number[] | undefined;
}

export interface ArmLimits {
  readonly reachMm: number;
  /** The largest angle of a joint either way, in degrees. */
  readonly most: number;
}

export function defaultArm(joints: number, limits: ArmLimits): ArmKinematics {
  const kinematics = kinematicsOf(joints, limits);
  const chain = readChain(kinematics);
  const jointsFor =
    joints < 6
      ? (wanted: RigidPose, from: readonly number[]) => searchJoints(chain, wanted, from, limits)
      : (wanted: RigidPose, from: readonly number[]) => aboveTurntables(wanted, from, limits);
  return { kinematics, chain, jointsFor };
}

type Part = JsonObject & { readonly id: string };

function kinematicsOf(count: number, { reachMm, most }: ArmLimits): JsonObject {
  const arm = wristArmKinematics(reachMm, most);
  const joints = arm['joints'] as Part[];
  if (count > 6) {
    const tables = Array.from({ length: count - 6 }, (_, at) => `turntable_${at + 1}`);
    const [waist, ...rest] = joints as [Part, ...Part[]];
    const turning = [...tables, 'waist'].map((id, at) => ({ ...waist, id, parent: tables[at - 1] ?? 'world' }));
    return { ...arm, joints: [...turning, ...rest] };
  }
  if (count > 2) return { ...arm, joints: joints.slice(0, count) };
  // Without an elbow, the two links become one.
  const links = [{ id: 'link', parent: 'shoulder', translation: { x: 0, y: 0, z: reachMm } }];
  const [first, ...rest] = joints.slice(2 - count, 2);
  return { ...arm, links, joints: [{ ...first, parent: 'world' }, ...rest] };
}

/** The turntables stay where they are: the six joints above them reach every pose. */
function aboveTurntables(wanted: RigidPose, from: readonly number[], limits: ArmLimits): readonly number[] | undefined {
  const tables = from.slice(0, -6);
  const turned = tables.reduce((sum, angle) => sum + angle, 0);
  const below = { ...identity, rotation: turn({ x: 0, y: 0, z: 1 }, (turned * Math.PI) / 180) };
  const found = wristArmJoints(compose(invert(below), wanted), from.slice(-6), limits);
  return found && [...tables, ...found];
}

/** Searches iteratively, from the current joint positions and from those of an arm with six joints. */
function searchJoints(
  chain: Chain,
  wanted: RigidPose,
  from: readonly number[],
  { reachMm, most }: ArmLimits,
): readonly number[] | undefined {
  const whole = [...from, 0, 0, 0, 0, 0].slice(0, 6);
  const ways = chain.joints < 3 ? [] : [...wristArmWays(wanted, whole, reachMm)];
  const quarters = [0, 90, -90, 180].map((angle) => from.map(() => angle));
  for (const start of [from, ...ways.map((way) => way.slice(0, chain.joints)), ...quarters]) {
    const found = solveChain(chain, wanted, start)?.map((angle, at) => nearest(angle, from[at] ?? 0, most));
    if (found?.every(Number.isFinite)) return found;
  }
  return undefined;
}
