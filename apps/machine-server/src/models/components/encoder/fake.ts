/**
 * `core:builtin:fake`: an encoder that turns on the clock.
 *
 * Attributes: `ticks_per_rotation` (default 360); `ticks_per_sec` (default 0), its constant speed. DoCommand `{"set_ticks_per_sec": 100}`
 * changes the speed. See fake-model.ts for `errors` and `delays_ms`.
 */
import type { Clock } from '@platform/base';
import { PositionType } from '@platform/proto/platform/component/encoder/v1/encoder';
import { type Encoder, encoder } from '@platform/resources';
import type { Model } from '../../../graph/model.ts';
import { Axis } from '../../fake/axis.ts';
import { fakeModel } from '../../fake/fake-model.ts';

const fields = {
  ticks_per_rotation: { kind: 'float', default: 360, min: 1 },
  ticks_per_sec: { kind: 'float', default: 0 },
} as const;

export const createFakeEncoder: (clock: Clock) => Model = fakeModel<Encoder, typeof fields>({
  type: encoder,
  fields,
  make({ ticks_per_rotation: ticksPerRotation, ticks_per_sec: ticksPerSec }, clock) {
    const axis = new Axis(clock);
    axis.run(ticksPerSec);
    return {
      getPosition: async ({ positionType = PositionType.TICKS_COUNT }) =>
        positionType === PositionType.ANGLE_DEGREES
          ? { value: (axis.position / ticksPerRotation) * 360, positionType }
          : { value: axis.position, positionType: PositionType.TICKS_COUNT },
      async resetPosition() {
        axis.calibrate(0);
      },
      getProperties: async () => ({ ticksCountSupported: true, angleDegreesSupported: true }),
      async doCommand(command) {
        const { set_ticks_per_sec: speed } = command;
        if (typeof speed === 'number') axis.run(speed);
        return command;
      },
    };
  },
});
