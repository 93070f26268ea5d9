/** The pins of a GPIO board: each is taken when it is first used, as an input or an output, and kept until the board is closed. */
import { createLimiter, failedPrecondition } from '@platform/base';
import type { GpioChip, GpioLines } from '../../../../hardware/gpio/chip.ts';
import type { SoftwarePwm } from '../../../../hardware/gpio/software-pwm.ts';
import { flags } from '../../../../hardware/gpio/structs.ts';

interface Pin {
  readonly lines: GpioLines;
  isOutput: boolean;
  duty: number;
  frequencyHz: number;
  isPulsing: boolean;
}

export interface PinsOptions {
  readonly chip: GpioChip;
  readonly pwm: SoftwarePwm;
  /** Flags of a line besides its direction, by its number: bias and polarity. */
  readonly extraFlags: ReadonlyMap<number, number>;
  /** Names of digital interrupts, by the number of their line. */
  readonly interrupts: ReadonlyMap<number, string>;
}

export interface Pins extends AsyncDisposable {
  set(pin: string, isHigh: boolean): Promise<void>;
  get(pin: string): Promise<boolean>;
  setDuty(pin: string, duty: number): Promise<void>;
  duty(pin: string): Promise<number>;
  setFrequency(pin: string, frequencyHz: number): Promise<void>;
  frequency(pin: string): Promise<number>;
}

/** Software cannot produce more edges reliably. */
export const mostFrequencyHz = 1_000;
export const defaultFrequencyHz = 800;

export function createPins({ chip, pwm, extraFlags, interrupts }: PinsOptions): Pins {
  const pins = new Map<number, Pin>();
  /** One after the other: two calls must not take the same line twice. */
  const inTurn = createLimiter(1);
  const flagsOf = (offset: number, direction: number): number => {
    const extra = extraFlags.get(offset) ?? 0;
    // Some chips refuse a bias for an output, and it is useless.
    return direction | (direction === flags.output ? extra & (flags.activeLow | flags.openDrain) : extra);
  };
  const offsetOf = (name: string): number => {
    const offset = chip.offsetOf(name);
    const interrupt = interrupts.get(offset);
    if (interrupt === undefined) return offset;
    throw failedPrecondition(
      `pin ${name} belongs to the digital interrupt ${JSON.stringify(interrupt)}: read that, or remove it from digital_interrupts`,
    );
  };
  const take = async (name: string, direction: number, isHigh?: boolean): Promise<Pin> => {
    const offset = offsetOf(name);
    const held = pins.get(offset);
    if (held !== undefined) {
      if (direction === flags.output && !held.isOutput) {
        held.lines.configure({ flags: flagsOf(offset, flags.output), isHigh });
        held.isOutput = true;
      }
      return held;
    }
    const lines = await chip.request([offset], { flags: flagsOf(offset, direction), isHigh });
    const pin = {
      lines,
      isOutput: direction === flags.output,
      duty: 0,
      frequencyHz: defaultFrequencyHz,
      isPulsing: false,
    };
    pins.set(offset, pin);
    return pin;
  };
  const settle = async (pin: Pin): Promise<void> => {
    if (pin.isPulsing) await pwm.set(pin.lines.fd, undefined);
    pin.isPulsing = false;
  };
  const pulse = async (pin: Pin): Promise<void> => {
    if (pin.duty > 0 && pin.duty < 1) {
      await pwm.set(pin.lines.fd, { periodMs: 1_000 / pin.frequencyHz, duty: pin.duty });
      pin.isPulsing = true;
      return;
    }
    await settle(pin);
    pin.lines.set(pin.duty === 1);
  };
  return {
    set: (name, isHigh) =>
      inTurn(async () => {
        const pin = await take(name, flags.output, isHigh);
        await settle(pin);
        pin.duty = isHigh ? 1 : 0;
        pin.lines.set(isHigh);
      }),
    get: (name) => inTurn(async () => (await take(name, flags.input)).lines.get()),
    setDuty: (name, duty) =>
      inTurn(async () => {
        const pin = await take(name, flags.output, false);
        pin.duty = duty;
        await pulse(pin);
      }),
    duty: (name) => inTurn(async () => pins.get(offsetOf(name))?.duty ?? 0),
    setFrequency: (name, frequencyHz) =>
      inTurn(async () => {
        const pin = await take(name, flags.output, false);
        pin.frequencyHz = frequencyHz === 0 ? defaultFrequencyHz : frequencyHz;
        if (pin.isPulsing) await pulse(pin);
      }),
    frequency: (name) => inTurn(async () => pins.get(offsetOf(name))?.frequencyHz ?? defaultFrequencyHz),
    async [Symbol.asyncDispose]() {
      await inTurn(async () => {});
      await pwm[Symbol.asyncDispose]();
      for (const { lines, isPulsing } of pins.values()) {
        // So that nothing keeps moving after the board is gone.
        if (isPulsing) lines.set(false);
        await lines[Symbol.asyncDispose]();
      }
      pins.clear();
    },
  };
}
