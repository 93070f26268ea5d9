/**
 * `core:builtin:fake`: a sensor without hardware, with settable readings.
 *
 * Attributes: `readings` (object; default `{a: 1, b: 2, c: 3}`); `wave` (bool, default false) adds `wave`, a sine between −1
 * and 1 over `wave_period_s` (60) seconds, and `count`, the number of readings taken. DoCommand `{"set": {…}}` sets readings.
 */
import { type Clock, isRecord } from '@platform/base';
import type { Document, Sensor } from '@platform/resources';
import type { Model } from '../../../graph/model.ts';
import { readAttributes } from '../../attributes.ts';

const fields = {
  readings: { kind: 'object' },
  wave: { kind: 'bool', default: false },
  wave_period_s: { kind: 'float', default: 60, min: 0.001 },
} as const;

export const createFakeSensor = (clock: Clock): Model => ({
  api: 'core:component:sensor',
  model: 'core:builtin:fake',
  fields,
  async build({ attributes }): Promise<Sensor> {
    const { readings = { a: 1, b: 2, c: 3 }, wave, wave_period_s: periodS } = readAttributes(fields, attributes);
    let values: Document = readings;
    let count = 0;
    return {
      readings() {
        count++;
        if (!wave) return values;
        return { ...values, count, wave: Math.sin(((2 * Math.PI) / periodS) * (clock.monotonic() / 1_000)) };
      },
      async doCommand(command) {
        const { set } = command;
        if (isRecord(set)) values = { ...values, ...set };
        return command;
      },
      async close() {},
    };
  },
});
