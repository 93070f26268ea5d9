/**
 * `core:builtin:fake`: linear axes that move on the clock: the first along x, the second along y, the third along z, and so on in turn.
 *
 * Attributes: `lengths_mm` (list, default [1000]), one for each axis; `mm_per_sec` (default 0: at once), the speed for requests without
 * one. See fake-model.ts for `errors` and `delays_ms`.
 */
import { type Clock, invalidValue } from '@platform/base';
import type { JsonObject } from '@platform/machine-config/schema';
import { type Gantry, gantry } from '@platform/resources';
import { svaAnswer } from '../../../frames/kinematic-model.ts';
import type { Model } from '../../../graph/model.ts';
import { numbersOf } from '../../attributes.ts';
import { Axis, motionOf, moveAll } from '../../fake/axis.ts';
import { fakeModel } from '../../fake/fake-model.ts';

const fields = { lengths_mm: { kind: 'list' }, mm_per_sec: { kind: 'float', default: 0, min: 0 } } as const;

export const createFakeGantry: (clock: Clock) => Model = fakeModel<Gantry, typeof fields>({
  type: gantry,
  fields,
  make({ lengths_mm: given = [1_000], mm_per_sec: ownSpeed }, clock) {
    const lengths = numbersOf(given, 'lengths_mm');
    const axes = lengths.map(() => new Axis(clock));
    const positions = (): number[] => axes.map(({ position }) => position);
    const isMoving = (): boolean => axes.some((axis) => axis.isMoving);
    const moveTo = (targets: readonly number[], speeds: readonly number[], signal: AbortSignal): Promise<void> =>
      moveAll(axes, (axis, at) => axis.moveTo(targets[at] ?? 0, speeds[at] ?? ownSpeed, signal));
    return {
      async moveToPosition({ positionsMm, speedsMmPerSec }, { signal }) {
        if (positionsMm.length !== axes.length)
          throw invalidValue('positions_mm', `one for each of ${axes.length} axes`, positionsMm.length);
        positionsMm.forEach((position, at) => {
          const most = lengths[at] ?? 0;
          if (position >= 0 && position <= most) return;
          throw invalidValue(`positions_mm[${at}]`, `0 to ${most}`, position);
        });
        await moveTo(positionsMm, speedsMmPerSec, signal);
      },
      async home(_, { signal }) {
        await moveTo([], [], signal);
        return { homed: true };
      },
      getPosition: async () => ({ positionsMm: positions() }),
      getLengths: async () => ({ lengthsMm: [...lengths] }),
      getKinematics: async ({ name }) => svaAnswer(kinematicsOf(lengths), name),
      ...motionOf(axes),
      getStatus: async () => ({
        result: { positions_mm: positions(), lengths_mm: [...lengths], is_moving: isMoving() },
      }),
    };
  },
});

const directions = [
  { x: 1, y: 0, z: 0 },
  { x: 0, y: 1, z: 0 },
  { x: 0, y: 0, z: 1 },
];

function kinematicsOf(lengths: readonly number[]): JsonObject {
  const joints = lengths.map((max, at) => ({
    ...{ id: `axis${at}`, type: 'prismatic', parent: at === 0 ? 'world' : `axis${at - 1}` },
    ...{ axis: directions[at % directions.length] ?? {}, min: 0, max },
  }));
  return { name: 'fake', kinematic_param_type: 'SVA', links: [], joints };
}
