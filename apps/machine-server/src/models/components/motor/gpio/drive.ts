/** Sets the pins of a motor driver according to power and direction. */
import { createLimiter, invalidArgument } from '@platform/base';
import type { JsonObject } from '@platform/machine-config/schema';
import type { Board } from '@platform/resources';
import { type BoardPin, boardPin } from '../../board/board-pin.ts';

export interface DriveOptions {
  /** 0: the board's frequency. */
  readonly frequencyHz: number;
  /** The minimum and maximum power of a turning motor, 0 to 1. */
  readonly leastPower: number;
  readonly mostPower: number;
  readonly isFlipped: boolean;
}

export interface Drive {
  /** @param power from -1 (full, backward) to 1; 0 switches the motor off */
  setPower(power: number): Promise<void>;
  /** As it was last set. */
  readonly power: number;
}

const names = ['a', 'b', 'dir', 'pwm', 'en_high', 'en_low'] as const;

/** @throws invalid_argument unless the pins are those of a driver */
export async function createDrive(board: Board, given: JsonObject, options: DriveOptions): Promise<Drive> {
  const pins: Partial<Record<(typeof names)[number], BoardPin>> = {};
  for (const name of names) {
    const pin = given[name];
    if (typeof pin === 'string' && pin !== '') pins[name] = boardPin(board, pin);
  }
  const { a, b, dir, pwm, en_high: enHigh, en_low: enLow } = pins;
  const { frequencyHz, leastPower, mostPower, isFlipped } = options;
  const enable = async (isOn: boolean): Promise<void> => {
    await enHigh?.set(isOn);
    await enLow?.set(!isOn);
  };
  const pulsing = pwm === undefined ? [a, b] : [pwm];
  if (frequencyHz > 0) for (const pin of pulsing) await pin?.setFrequency(frequencyHz);
  const turn = turnWith({ a, b, dir, pwm });
  let power = 0;
  const inTurn = createLimiter(1);
  const apply = async (wanted: number): Promise<void> => {
    const size = wanted === 0 ? 0 : Math.min(mostPower, Math.max(leastPower, Math.abs(wanted)));
    // Off first, on last, so that the driver never gets a partially set direction.
    if (size === 0) await enable(false);
    await turn(size, isFlipped ? wanted < 0 : wanted > 0);
    if (size > 0) await enable(true);
    power = Math.sign(wanted) * size;
  };
  return {
    setPower: (wanted) => inTurn(() => apply(wanted)),
    get power() {
      return power;
    },
  };
}

type Turn = (size: number, isForward: boolean) => Promise<void>;

function turnWith({ a, b, dir, pwm }: { [K in 'a' | 'b' | 'dir' | 'pwm']: BoardPin | undefined }): Turn {
  if (pwm !== undefined && dir !== undefined && a === undefined && b === undefined)
    return async (size, isForward) => {
      if (size > 0) await dir.set(isForward);
      await pwm.setDuty(size);
    };
  if (a !== undefined && b !== undefined && dir === undefined)
    return async (size, isForward) => {
      const [on, off] = isForward ? [a, b] : [b, a];
      if (pwm === undefined) {
        await off.set(false);
        await on.setDuty(size);
        return;
      }
      if (size === 0) await pwm.setDuty(0);
      await off.set(false);
      await on.set(size > 0);
      if (size > 0) await pwm.setDuty(size);
    };
  throw invalidArgument('attributes.pins: expected {pwm, dir}, {a, b, pwm} or {a, b}, found other pins');
}
