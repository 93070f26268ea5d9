/**
 * `core:builtin:fake`: an arm that moves on the clock. Its end follows its joints.
 *
 * Attributes: `kinematics` (object in the SVA format: see kinematics.ts): the chain of its joints. By default it has those of
 * default-arm.ts for its `joints` (default 6): six and more reach every pose within `reach_mm`. `deg_per_sec`, the speed of its joints, and
 * `mm_per_sec`, the speed of its end on the way to a pose (default 0: at once; with `mm_per_sec`, the joints arrive together);
 * `max_joint_deg` (default 360), the largest angle either way; `reach_mm` (default 2000), the farthest end position. In manual mode it
 * refuses to move: see manual-mode.ts. See fake-model.ts for `errors` and `delays_ms`.
 */
import { type Clock, invalidArgument, invalidValue } from '@platform/base';
import { type Arm, arm } from '@platform/resources';
import { svaAnswer } from '../../../frames/kinematic-model.ts';
import { readChain } from '../../../frames/kinematics.ts';
import { poseFields, rigidPose } from '../../../frames/pose.ts';
import { solveChain } from '../../../frames/solve-chain.ts';
import type { Model } from '../../../graph/model.ts';
import type { ValuesOf } from '../../attributes.ts';
import { Axis, motionOf, moveAll } from '../../fake/axis.ts';
import { fakeModel } from '../../fake/fake-model.ts';
import { type ArmKinematics, defaultArm } from './default-arm.ts';
import { ManualMode } from './manual-mode.ts';
import { rounding } from './wrist-arm.ts';

const fields = {
  kinematics: { kind: 'object' },
  joints: { kind: 'int', default: 6, min: 1, max: 64 },
  deg_per_sec: { kind: 'float', default: 0, min: 0 },
  mm_per_sec: { kind: 'float', default: 0, min: 0 },
  max_joint_deg: { kind: 'float', default: 360, min: 0 },
  reach_mm: { kind: 'float', default: 2_000, min: 0 },
} as const;

export const createFakeArm: (clock: Clock) => Model = fakeModel<Arm, typeof fields>({
  type: arm,
  fields,
  make(values, clock) {
    const { deg_per_sec: degPerSec, mm_per_sec: mmPerSec, max_joint_deg: most, reach_mm: reach } = values;
    const { kinematics, chain, jointsFor } = kinematicsOf(values);
    const count = chain.joints;
    const joints = Array.from({ length: count }, () => new Axis(clock));
    const angles = (): number[] => joints.map(({ position }) => position);
    const pose = () => poseFields(chain.poseAt(angles()));
    const positions = () => ({ values: angles() });
    const isMoving = (): boolean => joints.some((joint) => joint.isMoving);
    const manual = new ManualMode(clock);
    /** @param ms the time in which all arrive together; undefined: according to their speed */
    const moveJoints = async (values: readonly number[] = [], signal: AbortSignal, ms?: number): Promise<void> => {
      manual.requireOff();
      if (values.length !== count) throw invalidValue('positions', `${count} angles`, values.length);
      const tooFar = values.findIndex((value) => !(Math.abs(value) <= most));
      if (tooFar >= 0) throw invalidValue(`positions.values[${tooFar}]`, `${-most} to ${most} degrees`, values[tooFar]);
      const speeds = joints.map(({ position }, at) =>
        ms === undefined ? degPerSec : ms === 0 ? 0 : (Math.abs((values[at] ?? 0) - position) / ms) * 1_000,
      );
      await moveAll(joints, (joint, at) => joint.moveTo(values[at] ?? 0, speeds[at] ?? 0, signal));
    };
    return {
      getEndPosition: async () => ({ pose: pose() }),
      async moveToPosition({ to: wanted }, { signal }) {
        if (wanted === undefined) throw invalidArgument('to: expected a pose, found none');
        const { x, y, z } = wanted;
        const distance = Math.hypot(x, y, z);
        if (!(distance <= reach + rounding))
          throw invalidArgument(`to: expected at most ${reach} mm away, found ${distance} mm`);
        const now = pose();
        const length = Math.hypot(x - now.x, y - now.y, z - now.z);
        const found = jointsFor(rigidPose(wanted), angles());
        if (found === undefined)
          throw invalidArgument(`to: expected a pose that the ${count} joints of the arm can reach`);
        await moveJoints(found, signal, mmPerSec === 0 ? undefined : (length / mmPerSec) * 1_000);
      },
      getJointPositions: async () => ({ positions: positions() }),
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
      getKinematics: async ({ name }) => svaAnswer(kinematics, name),
      async setManualMode({ manualMode, enabledFor }) {
        if (!manualMode) return manual.exit();
        manual.enter(enabledFor);
        // Nobody should wait for a motion that a person hinders.
        for (const joint of joints) joint.stop();
      },
      getManualMode: async () => ({ manualMode: manual.isOn }),
      getProperties: async () => ({ supportManualMode: true, supportCartesianCommands: true }),
      get3DModels: async () => ({ models: {} }),
      ...motionOf(joints),
      getStatus: async () => ({
        result: { end_position: { ...pose() }, joint_positions: positions(), is_moving: isMoving() },
      }),
    };
  },
});

function kinematicsOf(values: ValuesOf<typeof fields>): ArmKinematics {
  const { kinematics, joints, max_joint_deg: most, reach_mm: reachMm } = values;
  if (kinematics === undefined) return defaultArm(joints, { reachMm, most });
  const chain = readChain(kinematics);
  return { kinematics, chain, jointsFor: (wanted, from) => solveChain(chain, wanted, from) };
}
