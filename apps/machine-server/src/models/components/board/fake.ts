/**
 * `core:builtin:fake`: a board whose pins keep what is written.
 *
 * Attributes: `analogs` (list of `{name, value, min, max, step}`; also written by WriteAnalog); `digital_interrupts` (list of
 * `{name, pin}`): each change of the pin by SetGPIO is a tick. See fake-model.ts for `errors` and `delays_ms`.
 */
import { type Clock, invalidArgument, invalidValue, notFound } from '@platform/base';
import { type Board, board } from '@platform/resources';
import type { Model } from '../../../graph/model.ts';
import { fakeModel } from '../../fake/fake-model.ts';
import { createTicks } from './ticks.ts';

const fields = { analogs: { kind: 'list' }, digital_interrupts: { kind: 'list' } } as const;

interface Analog {
  readonly name: string;
  readonly value?: number;
  readonly min?: number;
  readonly max?: number;
  readonly step?: number;
}

interface Interrupt {
  readonly name: string;
  readonly pin: string;
}

interface Pin {
  high: boolean;
  dutyCyclePct: number;
  frequencyHz: bigint;
}

const defaultFrequencyHz = 800n;

export const createFakeBoard: (clock: Clock) => Model = fakeModel<Board, typeof fields>({
  type: board,
  fields,
  make({ analogs: analogList = [], digital_interrupts: interruptList = [] }, clock) {
    const analogs = new Map(named<Analog>(analogList, 'analogs').map((each) => [each.name, each]));
    const interrupts = named<Interrupt>(interruptList, 'digital_interrupts');
    const ticks = createTicks(clock);
    const pins = new Map<string, Pin>();
    const pinOf = (name: string): Pin => {
      if (name === '') throw invalidArgument('pin: expected a name, found an empty text');
      let pin = pins.get(name);
      if (pin === undefined) {
        pin = { high: false, dutyCyclePct: 0, frequencyHz: defaultFrequencyHz };
        pins.set(name, pin);
      }
      return pin;
    };
    const interruptOf = (name: string): Interrupt => {
      const found = interrupts.find((each) => each.name === name);
      if (found !== undefined) return found;
      throw notFound(missing('digital interrupt', name, interrupts));
    };
    return {
      async setGPIO({ pin: name, high }) {
        const pin = pinOf(name);
        const changed = pin.high !== high;
        pin.high = high;
        pin.dutyCyclePct = high ? 1 : 0;
        if (changed) for (const { name: interrupt, pin: of } of interrupts) if (of === name) ticks.add(interrupt, high);
      },
      getGPIO: async ({ pin }) => ({ high: pinOf(pin).high }),
      async setPWM({ pin, dutyCyclePct }) {
        if (!(dutyCyclePct >= 0 && dutyCyclePct <= 1)) throw invalidValue('duty_cycle_pct', '0 to 1', dutyCyclePct);
        const set = pinOf(pin);
        set.dutyCyclePct = dutyCyclePct;
        set.high = dutyCyclePct > 0;
      },
      pWM: async ({ pin }) => ({ dutyCyclePct: pinOf(pin).dutyCyclePct }),
      async setPWMFrequency({ pin, frequencyHz }) {
        pinOf(pin).frequencyHz = frequencyHz === 0n ? defaultFrequencyHz : frequencyHz;
      },
      pWMFrequency: async ({ pin }) => ({ frequencyHz: pinOf(pin).frequencyHz }),
      async readAnalogReader({ analogReaderName: name }) {
        const found = analogs.get(name);
        if (found === undefined) throw notFound(missing('analog reader', name, [...analogs.values()]));
        const { value = 0, min = 0, max = 5, step = 0.01 } = found;
        return { value, minRange: min, maxRange: max, stepSize: step };
      },
      async writeAnalog({ pin, value }) {
        analogs.set(pin, { ...analogs.get(pin), name: pin, value });
      },
      getDigitalInterruptValue: async ({ digitalInterruptName: name }) => ({
        value: ticks.count(interruptOf(name).name),
      }),
      async *streamTicks({ pinNames }, { signal }) {
        const wanted = new Set(pinNames.map((name) => interruptOf(name).name));
        yield* ticks.follow(({ pinName }) => wanted.has(pinName), signal);
      },
      async setPowerMode() {},
      async getStatus() {
        const values = [...analogs.values()].map(({ name, value = 0 }) => [name, value]);
        const counts = interrupts.map(({ name }) => [name, Number(ticks.count(name))]);
        return {
          result: { analogs: Object.fromEntries(values), digital_interrupts: Object.fromEntries(counts) },
        };
      },
      async close() {
        ticks.end();
      },
    };
  },
});

function named<T extends { readonly name: string }>(list: readonly unknown[], path: string): readonly T[] {
  return list.map((item, at) => {
    const { name } = (item ?? {}) as { name?: unknown };
    if (typeof name === 'string' && name !== '') return item as T;
    throw invalidValue(`attributes.${path}[${at}]`, 'an object with a name', item);
  });
}

function missing(what: string, name: string, all: readonly { readonly name: string }[]): string {
  const known = all.map((each) => each.name).join(', ') || 'none';
  return `this board has no ${what} "${name}"; it has: ${known}`;
}
