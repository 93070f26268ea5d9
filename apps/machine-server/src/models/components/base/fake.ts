/**
 * `core:builtin:fake`: a base that moves on the clock.
 *
 * Attributes: `width_meters` (default 0.5), `wheel_circumference_meters` (default 0.6), `turning_radius_meters` (default 0),
 * `max_mm_per_sec` (default 500) and `max_deg_per_sec` (default 90), its speeds at full power. Its status has the covered distance and
 * angle, also as its position. See fake-model.ts for `errors` and `delays_ms`.
 */
import { type Clock, invalidValue } from '@platform/base';
import { type Base, base } from '@platform/resources';
import type { Model } from '../../../graph/model.ts';
import { Axis, motionOf } from '../../fake/axis.ts';
import { fakeModel } from '../../fake/fake-model.ts';

const fields = {
  width_meters: { kind: 'float', default: 0.5, min: 0 },
  wheel_circumference_meters: { kind: 'float', default: 0.6, min: 0 },
  turning_radius_meters: { kind: 'float', default: 0, min: 0 },
  max_mm_per_sec: { kind: 'float', default: 500, min: 0.001 },
  max_deg_per_sec: { kind: 'float', default: 90, min: 0.001 },
} as const;

export const createFakeBase: (clock: Clock) => Model = fakeModel<Base, typeof fields>({
  type: base,
  fields,
  make(values, clock) {
    const { max_mm_per_sec: fastest, max_deg_per_sec: fastestTurn } = values;
    const distance = new Axis(clock);
    const angle = new Axis(clock);
    const isMoving = (): boolean => distance.isMoving || angle.isMoving;
    const run = (mmPerSec: number, degPerSec: number): void => {
      distance.run(Math.max(-fastest, Math.min(fastest, mmPerSec)));
      angle.run(Math.max(-fastestTurn, Math.min(fastestTurn, degPerSec)));
    };
    const travel = async (axis: Axis, by: number, speed: number, path: string, signal: AbortSignal): Promise<void> => {
      if (speed === 0 || !Number.isFinite(speed)) throw invalidValue(path, 'a number other than 0', speed);
      run(0, 0);
      await axis.moveTo(axis.position + by * Math.sign(speed), Math.abs(speed), signal);
    };
    return {
      async moveStraight({ distanceMm, mmPerSec }, { signal }) {
        await travel(distance, Number(distanceMm), mmPerSec, 'mm_per_sec', signal);
      },
      async spin({ angleDeg, degsPerSec }, { signal }) {
        await travel(angle, angleDeg, degsPerSec, 'degs_per_sec', signal);
      },
      async setPower({ linear, angular }) {
        run((linear?.y ?? 0) * fastest, (angular?.z ?? 0) * fastestTurn);
      },
      async setVelocity({ linear, angular }) {
        run(linear?.y ?? 0, angular?.z ?? 0);
      },
      ...motionOf([distance, angle]),
      getProperties: async () => ({
        widthMeters: values.width_meters,
        turningRadiusMeters: values.turning_radius_meters,
        wheelCircumferenceMeters: values.wheel_circumference_meters,
      }),
      async getStatus() {
        const position = { distance_mm: distance.position, angle_deg: angle.position };
        return { result: { is_moving: isMoving(), ...position, position } };
      },
    };
  },
});
