/**
 * `core:builtin:fake`: a servo that turns on the clock.
 *
 * Attributes: `min_angle_deg` (default 0), `max_angle_deg` (default 180), `start_angle_deg` (default 0), `deg_per_sec` (default 0: at
 * once). See fake-model.ts for `errors` and `delays_ms`.
 */
import { type Clock, invalidValue } from '@platform/base';
import { type Servo, servo } from '@platform/resources';
import type { Model } from '../../../graph/model.ts';
import { Axis, motionOf } from '../../fake/axis.ts';
import { fakeModel } from '../../fake/fake-model.ts';

const fields = {
  min_angle_deg: { kind: 'float', default: 0, min: 0, max: 360 },
  max_angle_deg: { kind: 'float', default: 180, min: 0, max: 360 },
  start_angle_deg: { kind: 'float', default: 0, min: 0, max: 360 },
  deg_per_sec: { kind: 'float', default: 0, min: 0 },
} as const;

export const createFakeServo: (clock: Clock) => Model = fakeModel<Servo, typeof fields>({
  type: servo,
  fields,
  make({ min_angle_deg: least, max_angle_deg: most, start_angle_deg: start, deg_per_sec: speed }, clock) {
    const axis = new Axis(clock, start);
    return {
      async move({ angleDeg }, { signal }) {
        if (angleDeg < least || angleDeg > most) throw invalidValue('angle_deg', `${least} to ${most}`, angleDeg);
        await axis.moveTo(angleDeg, speed, signal);
      },
      getPosition: async () => ({ positionDeg: Math.round(axis.position) }),
      ...motionOf([axis]),
      getStatus: async () => ({ result: { position_deg: Math.round(axis.position), is_moving: axis.isMoving } }),
    };
  },
});
