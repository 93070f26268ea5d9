/**
 * `core:builtin:gpio`: the pins of this computer, over the GPIO character device of Linux.
 *
 * Attributes: `chip` (default `/dev/gpiochip0`). A pin is the number of its line on the chip, or its name (`gpioinfo` lists both). `pins`
 * (list of `{pin, bias, active_low, open_drain}`): `bias` is `pull_up`, `pull_down` or `none`; without an entry, a pin keeps the settings
 * of the system. `digital_interrupts` (list of `{name, pin, bias, active_low, debounce_us}`): both edges are ticks. `analogs` (list of
 * `{name, channel, spi_bus, chip_select, bits, reference_volts}`): channels of an MCP3xxx converter with 10 (default) or 12 bits; `spi_bus`
 * and `chip_select` are 0 by default, `reference_volts` 3.3.
 *
 * A pin is taken when it is first used, and kept until the board is closed. PWM is done in software: at most 1,000 Hz, with edges that may
 * be late by about 0.1 ms, more on a busy computer.
 */
import { type Clock, invalidValue, notFound, PlatformError, unimplemented } from '@platform/base';
import type { Board } from '@platform/resources';
import type { Model } from '../../../graph/model.ts';
import { type GpioChip, openGpioChip } from '../../../hardware/gpio/chip.ts';
import { createSoftwarePwm } from '../../../hardware/gpio/software-pwm.ts';
import type { Kernel } from '../../../hardware/kernel.ts';
import { readAttributes } from '../../attributes.ts';
import { noCommands } from '../../no-commands.ts';
import { type Analog, readAnalog } from './gpio/analogs.ts';
import { followInterrupts, type Interrupt, interruptOf } from './gpio/interrupts.ts';
import { parseAnalog, parseInterrupt, parsePin } from './gpio/parse.ts';
import { createPins, mostFrequencyHz, type Pins } from './gpio/pins.ts';
import { createTicks, type Ticks } from './ticks.ts';

const fields = {
  chip: { kind: 'string', default: '/dev/gpiochip0' },
  pins: { kind: 'list' },
  digital_interrupts: { kind: 'list' },
  analogs: { kind: 'list' },
} as const;

/** @param createPwm creates the PWM; tests replace it */
export const createGpioBoard = (
  clock: Clock,
  kernel: () => Promise<Kernel>,
  createPwm: typeof createSoftwarePwm = createSoftwarePwm,
): Model => ({
  api: 'core:component:board',
  model: 'core:builtin:gpio',
  fields,
  async build({ attributes }, { log }): Promise<Board> {
    const given = readAttributes(fields, attributes);
    const parsed = (given.pins ?? []).map((item, index) => parsePin(item, `attributes.pins[${index}]`));
    const interrupts = (given.digital_interrupts ?? []).map((item, index) =>
      parseInterrupt(item, `attributes.digital_interrupts[${index}]`),
    );
    const analogs = (given.analogs ?? []).map((item, index) => parseAnalog(item, `attributes.analogs[${index}]`));
    await using starting = new AsyncDisposableStack();
    const calls = await kernel();
    const chip = starting.use(await openGpioChip(given.chip, calls));
    const ticks = createTicks(clock);
    starting.use(await followInterrupts({ chip, interrupts, ticks, clock, log }));
    const pins = starting.use(
      createPins({
        chip,
        pwm: createPwm((_fd, error) => log.error(`${given.chip}: PWM of a pin ended: ${error}`)),
        extraFlags: new Map(parsed.map(({ pin, extraFlags }) => [chip.offsetOf(pin), extraFlags])),
        interrupts: new Map(interrupts.map(({ name, pin }) => [chip.offsetOf(pin), name])),
      }),
    );
    const owned = starting.move();
    return {
      ...pinMethods(pins),
      ...otherMethods({ chip, interrupts, ticks, analogs, kernel: calls }),
      async close() {
        ticks.end();
        await owned.disposeAsync();
      },
    };
  },
});

type PinMethod = 'setGPIO' | 'getGPIO' | 'setPWM' | 'pWM' | 'setPWMFrequency' | 'pWMFrequency';

function pinMethods(pins: Pins): Pick<Board, PinMethod> {
  return {
    async setGPIO({ pin, high }) {
      await pins.set(pin, high);
    },
    getGPIO: async ({ pin }) => ({ high: await pins.get(pin) }),
    async setPWM({ pin, dutyCyclePct: duty }) {
      if (!(duty >= 0 && duty <= 1)) throw invalidValue('duty_cycle_pct', '0 to 1', duty);
      await pins.setDuty(pin, duty);
    },
    pWM: async ({ pin }) => ({ dutyCyclePct: await pins.duty(pin) }),
    async setPWMFrequency({ pin, frequencyHz }) {
      if (frequencyHz > BigInt(mostFrequencyHz))
        throw new PlatformError(
          'out_of_range',
          `frequency_hz: expected at most ${mostFrequencyHz}, the maximum of software PWM, found ${frequencyHz}`,
        );
      await pins.setFrequency(pin, Number(frequencyHz));
    },
    pWMFrequency: async ({ pin }) => ({ frequencyHz: BigInt(Math.round(await pins.frequency(pin))) }),
  };
}

interface OtherParts {
  readonly chip: GpioChip;
  readonly interrupts: readonly Interrupt[];
  readonly ticks: Ticks;
  readonly analogs: readonly Analog[];
  readonly kernel: Kernel;
}

function otherMethods({ chip, interrupts, ticks, analogs, kernel }: OtherParts): Omit<Board, PinMethod | 'close'> {
  return {
    async readAnalogReader({ analogReaderName: name }) {
      const analog = analogs.find((each) => each.name === name);
      if (analog === undefined) {
        const known = analogs.map((each) => each.name).join(', ') || 'none';
        throw notFound(`this board has no analog reader ${JSON.stringify(name)}; it has: ${known}`);
      }
      const { bits, referenceVolts: maxRange } = analog;
      return { value: await readAnalog(analog, kernel), minRange: 0, maxRange, stepSize: maxRange / 2 ** bits };
    },
    async writeAnalog() {
      throw unimplemented(`${chip.path} has no analog outputs`);
    },
    getDigitalInterruptValue: async ({ digitalInterruptName: name }) => ({
      value: ticks.count(interruptOf(interrupts, name).name),
    }),
    async *streamTicks({ pinNames }, { signal }) {
      const wanted = new Set(pinNames.map((name) => interruptOf(interrupts, name).name));
      yield* ticks.follow(({ pinName }) => wanted.has(pinName), signal);
    },
    async setPowerMode() {
      throw unimplemented(`${chip.path} has no power modes`);
    },
    async getStatus() {
      const counts = interrupts.map(({ name }) => [name, Number(ticks.count(name))]);
      return { result: { digital_interrupts: Object.fromEntries(counts) } };
    },
    doCommand: noCommands('gpio boards have no commands'),
  };
}
