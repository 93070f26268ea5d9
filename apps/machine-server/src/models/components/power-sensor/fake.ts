/**
 * `core:builtin:fake`: a power sensor with settable values.
 *
 * Attributes: `volts` (default 12), `amperes` (default 1), `is_ac` (bool, default false); watts are their product. DoCommand
 * `{"set": {"volts": 5}}` sets values. See fake-model.ts for `errors` and `delays_ms`.
 */
import type { Clock } from '@platform/base';
import { type PowerSensor, powerSensor } from '@platform/resources';
import type { Model } from '../../../graph/model.ts';
import { fakeModel } from '../../fake/fake-model.ts';

const fields = {
  volts: { kind: 'float', default: 12 },
  amperes: { kind: 'float', default: 1 },
  is_ac: { kind: 'bool', default: false },
} as const;

export const createFakePowerSensor: (clock: Clock) => Model = fakeModel<PowerSensor, typeof fields>({
  type: powerSensor,
  fields,
  make({ volts, amperes, is_ac: isAc }) {
    let values = { volts, amperes };
    return {
      getVoltage: async () => ({ volts: values.volts, isAc }),
      getCurrent: async () => ({ amperes: values.amperes, isAc }),
      getPower: async () => ({ watts: values.volts * values.amperes }),
      readings: () => ({ ...values, watts: values.volts * values.amperes, is_ac: isAc }),
      async doCommand(command) {
        const { volts: newVolts, amperes: newAmperes } = (command['set'] ?? {}) as Record<string, unknown>;
        values = {
          volts: typeof newVolts === 'number' ? newVolts : values.volts,
          amperes: typeof newAmperes === 'number' ? newAmperes : values.amperes,
        };
        return command;
      },
    };
  },
});
