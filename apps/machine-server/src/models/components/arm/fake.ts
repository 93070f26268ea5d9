/**
 * `core:builtin:fake`: an arm that moves on the clock. Its pose and its joints are what was last asked for, unless it has `kinematics`.
 *
 * Attributes: `kinematics` (object in the format SVA: see kinematics.ts): the chain of its joints, which decides where its end is; `joints`
 * (default 6), their number without `kinematics`; `deg_per_sec` and `mm_per_sec` (default 0: at once), its speeds; `max_joint_deg` (default
 * 360), the largest angle either way; `reach_mm` (default 2000), the farthest end position. See fake-model.ts for `errors` and `delays_ms`.
 */
import { type Clock, PlatformError } from '@platform/base';
import { KinematicsFileFormat } from '@platform/proto/platform/common/v1/common';
import { type Arm, arm } from '@platform/resources';
import { readChain } from '../../../frames/kinematics.ts';
import { poseFields, rigidPose } from '../../../frames/pose.ts';
import { solveChain } from '../../../frames/solve-chain.ts';
import type { Model } from '../../../graph/model.ts';
import { Axis, moveAll } from '../../fake/axis.ts';
import { fakeModel } from '../../fake/fake-model.ts';

const fields = {
  kinematics: { kind: 'object' },
  joints: { kind: 'int', default: 6, min: 1, max: 64 },
  deg_per_sec: { kind: 'float', default: 0, min: 0 },
  mm_per_sec: { kind: 'float', default: 0, min: 0 },
  max_joint_deg: { kind: 'float', default: 360, min: 0 },
  reach_mm: { kind: 'float', default: 2_000, min: 0 },
} as const;

const upright = { x: 0, y: 0, z: 0, oX: 0, oY: 0, oZ: 1, theta: 0 };
type Pose = typeof upright;

export const createFakeArm: (clock: Clock) => Model = fakeModel<Arm, typeof fields>({
  type: arm,
  fields,
  make(values, clock) {
    const { kinematics, deg_per_sec: degPerSec, mm_per_sec: mmPerSec, max_joint_deg: most, reach_mm: reach } = values;
    const chain = kinematics && readChain(kinematics);
    const count = chain?.joints ?? values.joints;
    const joints = Array.from({ length: count }, () => new Axis(clock));
    /** From 0 to 1 along the way from one pose to the next. */
    const way = new Axis(clock, 1);
    let [from, to]: [Pose, Pose] = [upright, upright];
    const angles = (): number[] => joints.map(({ position }) => position);
    const pose = (): Pose => {
      if (chain !== undefined) return poseFields(chain.poseAt(angles()));
      const share = way.position;
      const keys = Object.keys(upright) as (keyof Pose)[];
      return Object.fromEntries(keys.map((key) => [key, from[key] + share * (to[key] - from[key])])) as Pose;
    };
    const positions = () => ({ values: angles() });
    const isMoving = (): boolean => way.isMoving || joints.some((joint) => joint.isMoving);
    const stop = (): void => {
      for (const axis of [way, ...joints]) axis.stop();
    };
    const moveJoints = async (values: readonly number[] = [], signal: AbortSignal): Promise<void> => {
      if (values.length !== count)
        throw new PlatformError('invalid_argument', `positions: expected ${count} angles, found ${values.length}`);
      const tooFar = values.findIndex((value) => !(Math.abs(value) <= most));
      if (tooFar >= 0) {
        const text = `positions.values[${tooFar}]: expected ${-most} to ${most} degrees, found ${values[tooFar]}`;
        throw new PlatformError('invalid_argument', text);
      }
      await moveAll(joints, (joint, at) => joint.moveTo(values[at] ?? 0, degPerSec, signal));
    };
    return {
      async getEndPosition() {
        return { pose: pose() };
      },
      async moveToPosition({ to: wanted }, { signal }) {
        if (wanted === undefined) throw new PlatformError('invalid_argument', 'to: expected a pose, found none');
        const { x, y, z, oX, oY, oZ, theta } = wanted;
        const distance = Math.hypot(x, y, z);
        if (!(distance <= reach))
          throw new PlatformError('invalid_argument', `to: expected at most ${reach} mm away, found ${distance} mm`);
        if (chain !== undefined) {
          const found = solveChain(chain, rigidPose(wanted), angles());
          if (found === undefined)
            throw new PlatformError('invalid_argument', 'to: expected a pose that the joints of the arm can reach');
          return await moveJoints(found, signal);
        }
        from = pose();
        to = { x, y, z, oX, oY, oZ, theta };
        way.stop();
        way.calibrate(0);
        const length = Math.hypot(x - from.x, y - from.y, z - from.z);
        await way.moveTo(1, length === 0 ? 0 : mmPerSec / length, signal);
      },
      async getJointPositions() {
        return { positions: positions() };
      },
      async moveToJointPositions({ positions: wanted }, { signal }) {
        await moveJoints(wanted?.values, signal);
      },
      async moveThroughJointPositions({ positions: all }, { signal }) {
        for (const { values } of all) await moveJoints(values, signal);
      },
      async *moveThroughJointPositionsStreamed(requests, { signal }) {
        for await (const { message } of requests) {
          if (message.case !== 'batch') continue;
          for (const { positions: point } of message.value.points) await moveJoints(point?.values, signal);
          yield { message: { case: 'ack', value: {} } };
        }
      },
      ...(kinematics && {
        async getKinematics() {
          const kinematicsData = new TextEncoder().encode(JSON.stringify(kinematics));
          return { format: KinematicsFileFormat.SVA, kinematicsData };
        },
      }),
      async get3DModels() {
        return { models: {} };
      },
      async stop() {
        stop();
      },
      async isMoving() {
        return { isMoving: isMoving() };
      },
      async getStatus() {
        return { result: { end_position: { ...pose() }, joint_positions: positions(), is_moving: isMoving() } };
      },
      async close() {
        stop();
      },
    };
  },
});
