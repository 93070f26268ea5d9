/**
 * `core:builtin:fake`: a motor that turns on the clock.
 *
 * Attributes: `max_rpm` (default 100), the speed at full power and the maximum of all motions; `position_reporting` (bool, default true):
 * if false, positions are refused. See fake-model.ts for `errors` and `delays_ms`.
 */
import { type Clock, invalidValue, unimplemented } from '@platform/base';
import { type Motor, motor } from '@platform/resources';
import type { Model } from '../../../graph/model.ts';
import { Axis, motionOf } from '../../fake/axis.ts';
import { fakeModel } from '../../fake/fake-model.ts';

const fields = {
  max_rpm: { kind: 'float', default: 100, min: 0.001 },
  position_reporting: { kind: 'bool', default: true },
} as const;

export const createFakeMotor: (clock: Clock) => Model = fakeModel<Motor, typeof fields>({
  type: motor,
  fields,
  make({ max_rpm: maxRpm, position_reporting: reportsPosition }, clock) {
    const axis = new Axis(clock);
    const fastest = maxRpm / 60;
    /** Revolutions per second, at most the maximum. */
    const speedOf = (rpm: number): number => {
      if (rpm === 0 || !Number.isFinite(rpm)) throw invalidValue('rpm', 'a number other than 0', rpm);
      return Math.max(-fastest, Math.min(fastest, rpm / 60));
    };
    const needsPosition = (): void => {
      if (!reportsPosition) throw unimplemented('this motor does not report its position (position_reporting)');
    };
    return {
      async setPower({ powerPct }) {
        axis.run(Math.max(-1, Math.min(1, powerPct)) * fastest);
      },
      async setRPM({ rpm }) {
        axis.run(speedOf(rpm));
      },
      async goFor({ rpm, revolutions }, { signal }) {
        const speed = speedOf(rpm);
        await axis.moveTo(axis.position + Math.sign(speed) * revolutions, Math.abs(speed), signal);
      },
      async goTo({ rpm, positionRevolutions }, { signal }) {
        needsPosition();
        await axis.moveTo(positionRevolutions, Math.abs(speedOf(rpm)), signal);
      },
      async resetZeroPosition({ offset }) {
        needsPosition();
        axis.calibrate(-offset);
      },
      async getPosition() {
        needsPosition();
        return { position: axis.position };
      },
      getProperties: async () => ({ positionReporting: reportsPosition }),
      ...motionOf([axis]),
      isPowered: async () => ({ isOn: axis.isMoving, powerPct: axis.velocity / fastest }),
      getStatus: async () => ({
        result: { is_powered: axis.isMoving, position: axis.position, is_moving: axis.isMoving },
      }),
    };
  },
});
