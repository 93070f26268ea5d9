/**
 * `core:builtin:fake`: a sensor without hardware, with settable readings.
 *
 * Attributes: `readings` (object; default `{a: 1, b: 2, c: 3}`); `wave` (bool, default false) adds `wave`, a sine between −1
 * and 1 over `wave_period_s` (60) seconds, and `count`, the number of readings taken. DoCommand `{"set": {…}}` sets readings.
 */
import { type Clock, PlatformError } from '@platform/base';
import type { Document, Sensor } from '@platform/resources';
import type { Model } from '../../../graph/model.ts';
import { isObject } from '../../values-of.ts';

export const createFakeSensor = (clock: Clock): Model => ({
  api: 'core:component:sensor',
  model: 'core:builtin:fake',
  async build({ attributes }): Promise<Sensor> {
    const { readings = { a: 1, b: 2, c: 3 }, wave = false, wave_period_s: periodS = 60 } = attributes;
    if (!isObject(readings))
      throw new PlatformError(
        'invalid_argument',
        `attributes.readings: expected an object, found ${JSON.stringify(readings)}`,
      );
    if (typeof periodS !== 'number' || !(periodS > 0))
      throw new PlatformError(
        'invalid_argument',
        `attributes.wave_period_s: expected seconds above 0, found ${JSON.stringify(periodS)}`,
      );
    let values: Document = readings;
    let count = 0;
    return {
      readings() {
        count++;
        if (wave !== true) return values;
        return { ...values, count, wave: Math.sin(((2 * Math.PI) / periodS) * (clock.monotonic() / 1_000)) };
      },
      async doCommand(command) {
        const { set } = command;
        if (isObject(set)) values = { ...values, ...set };
        return command;
      },
      async close() {},
    };
  },
});
