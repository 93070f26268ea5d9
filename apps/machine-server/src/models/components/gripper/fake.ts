/**
 * `core:builtin:fake`: a gripper that opens and closes on the clock.
 *
 * Attributes: `grabs` (bool, default true), whether there is something to hold; `seconds` (default 0), how long opening and closing take.
 * Its only input is its opening from 0 to 1. See fake-model.ts for `errors` and `delays_ms`.
 */
import { type Clock, invalidValue } from '@platform/base';
import { type Gripper, gripper } from '@platform/resources';
import { svaAnswer } from '../../../frames/kinematic-model.ts';
import type { Model } from '../../../graph/model.ts';
import { Axis, motionOf } from '../../fake/axis.ts';
import { fakeModel } from '../../fake/fake-model.ts';

const fields = { grabs: { kind: 'bool', default: true }, seconds: { kind: 'float', default: 0, min: 0 } } as const;

/** Its jaw moves by its opening. */
const kinematics = {
  ...{ name: 'fake', kinematic_param_type: 'SVA', links: [] },
  joints: [{ id: 'jaw', type: 'prismatic', parent: 'world', axis: { x: 1, y: 0, z: 0 }, min: 0, max: 1 }],
};

export const createFakeGripper: (clock: Clock) => Model = fakeModel<Gripper, typeof fields>({
  type: gripper,
  fields,
  make({ grabs, seconds }, clock) {
    const opening = new Axis(clock, 1);
    let isHolding = false;
    const moveTo = (target: number, signal: AbortSignal): Promise<void> =>
      opening.moveTo(target, seconds === 0 ? Number.POSITIVE_INFINITY : 1 / seconds, signal);
    return {
      async open(_, { signal }) {
        isHolding = false;
        await moveTo(1, signal);
      },
      async grab(_, { signal }) {
        await moveTo(0, signal);
        isHolding = grabs;
        return { success: grabs };
      },
      isHoldingSomething: async () => ({ isHoldingSomething: isHolding }),
      getCurrentInputs: async () => ({ values: [opening.position] }),
      async goToInputs({ values }, { signal }) {
        const [target] = values;
        if (values.length !== 1 || target === undefined || !(target >= 0 && target <= 1))
          throw invalidValue('values', 'one number from 0 to 1', values);
        isHolding = false;
        await moveTo(target, signal);
      },
      getKinematics: async ({ name }) => svaAnswer(kinematics, name),
      ...motionOf([opening]),
      getStatus: async () => ({
        result: { is_moving: opening.isMoving, is_holding_something: isHolding, opening: opening.position },
      }),
    };
  },
});
