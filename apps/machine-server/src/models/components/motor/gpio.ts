/**
 * `core:builtin:gpio`: a DC motor behind a driver (H bridge) on pins of a board.
 *
 * Attributes: `board` (required); `pins` (required): `{pwm, dir}`, `{a, b, pwm}` or `{a, b}`, each with `en_high` or `en_low` if the driver
 * has an enable pin. `dir` is high forward; of `a` and `b`, `a` is high forward; without `pwm`, the pulses are on `a` or `b`. `max_rpm`
 * (default 0: unknown): the speed at full power, by which speeds become power. `pwm_freq` (Hz, default: that of the board), `min_power_pct`
 * (default 0) and `max_power_pct` (1) limit the power; `dir_flip` (bool) changes the direction. `encoder` and `ticks_per_rotation`: with
 * both, the motor reports its position and moves to positions; without them, GoFor runs for a time computed from `max_rpm`, and GoTo is
 * refused.
 *
 * There is no speed control: a speed becomes the power that it would need without a load. A motion that is stopped, or replaced by another
 * one, ends with ABORTED for its caller; when the caller disconnects, the motor stops.
 */
import { create } from '@bufbuild/protobuf';
import {
  type Clock,
  failedPrecondition,
  invalidArgument,
  invalidValue,
  PlatformError,
  unimplemented,
} from '@platform/base';
import { GetPositionRequestSchema, PositionType } from '@platform/proto/platform/component/encoder/v1/encoder';
import { board as boardType, type Encoder, encoder as encoderType, type Motor } from '@platform/resources';
import type { Model } from '../../../graph/model.ts';
import { readAttributes } from '../../attributes.ts';
import { dependencyOf, namedIn } from '../../dependency.ts';
import { noCommands } from '../../no-commands.ts';
import { createDrive, type Drive } from './gpio/drive.ts';

const pin = { kind: 'string' } as const;
const fields = {
  board: { kind: 'string' },
  pins: { kind: 'object', of: { a: pin, b: pin, dir: pin, pwm: pin, en_high: pin, en_low: pin } },
  max_rpm: { kind: 'float', default: 0, min: 0 },
  pwm_freq: { kind: 'int', default: 0, min: 0, max: 1_000_000 },
  min_power_pct: { kind: 'float', default: 0, min: 0, max: 1 },
  max_power_pct: { kind: 'float', default: 1, min: 0.01, max: 1 },
  dir_flip: { kind: 'bool', default: false },
  encoder: { kind: 'string' },
  ticks_per_rotation: { kind: 'float', min: 0.001 },
} as const;

/** How often the position is checked while the motor moves to one. */
const lookEveryMs = 10;

export const createGpioMotor = (clock: Clock): Model => ({
  api: 'core:component:motor',
  model: 'core:builtin:gpio',
  fields,
  dependencies: namedIn('board', 'encoder'),
  async build({ attributes }, context): Promise<Motor> {
    const given = readAttributes(fields, attributes);
    const { encoder: encoderName, ticks_per_rotation: ticks } = given;
    if ((encoderName === undefined) !== (ticks === undefined))
      throw invalidArgument('attributes: expected both of encoder and ticks_per_rotation, or neither, found one');
    const drive = await createDrive(dependencyOf(context, boardType, given.board, 'board'), given.pins ?? {}, {
      ...{
        frequencyHz: given.pwm_freq,
        leastPower: given.min_power_pct,
        mostPower: given.max_power_pct,
        isFlipped: given.dir_flip,
      },
    });
    const encoder = encoderName === undefined ? undefined : dependencyOf(context, encoderType, encoderName, 'encoder');
    return motorOf({ drive, maxRpm: given.max_rpm, position: encoder && createPosition(encoder, ticks ?? 1), clock });
  },
});

/** In revolutions. */
interface Position {
  read(): Promise<number>;
  /** Declares the current position to be this one. */
  calibrate(to: number): Promise<void>;
}

function createPosition(encoder: Encoder, ticksPerRotation: number): Position {
  let zero = 0;
  const { signal } = new AbortController();
  const request = create(GetPositionRequestSchema, { positionType: PositionType.TICKS_COUNT });
  const raw = async (): Promise<number> =>
    ((await encoder.getPosition(request, { signal })).value ?? 0) / ticksPerRotation;
  return {
    read: async () => (await raw()) - zero,
    async calibrate(to) {
      zero = (await raw()) - to;
    },
  };
}

interface MotorParts {
  readonly drive: Drive;
  readonly maxRpm: number;
  readonly position: Position | undefined;
  readonly clock: Clock;
}

function motorOf({ drive, maxRpm, position, clock }: MotorParts): Motor {
  let motion = new AbortController();
  /** Ends the previous motion. */
  const begin = (): AbortSignal => {
    motion.abort(new PlatformError('aborted', 'the motion was stopped, or replaced by another one'));
    motion = new AbortController();
    return motion.signal;
  };
  const powerOf = (rpm: number): number => {
    if (maxRpm === 0)
      throw failedPrecondition('this motor has no max_rpm, by which a speed becomes power: set it, or use SetPower');
    if (rpm === 0 || !Number.isFinite(rpm)) throw invalidValue('rpm', 'a number other than 0', rpm);
    return Math.max(-1, Math.min(1, rpm / maxRpm));
  };
  const needsPosition = (): Position => {
    if (position !== undefined) return position;
    throw unimplemented('this motor does not know its position: set encoder and ticks_per_rotation');
  };
  /** Runs until `arrived`, then stops. */
  const run = async (
    power: number,
    arrived: (signal: AbortSignal) => Promise<void>,
    caller: AbortSignal,
  ): Promise<void> => {
    const own = begin();
    try {
      const signal = AbortSignal.any([own, caller]);
      await drive.setPower(power);
      await arrived(signal);
    } finally {
      // A newer motion has its own power.
      if (!own.aborted) await drive.setPower(0);
    }
  };
  const moveTo = async (known: Position, target: number, power: number, caller: AbortSignal): Promise<void> => {
    const sign = Math.sign(target - (await known.read()));
    if (sign === 0) return;
    const arrived = async (signal: AbortSignal): Promise<void> => {
      while ((target - (await known.read())) * sign > 0) await clock.sleep(lookEveryMs, signal);
    };
    await run(sign * power, arrived, caller);
  };
  return {
    async setPower({ powerPct }) {
      if (!Number.isFinite(powerPct)) throw invalidValue('power_pct', '-1 to 1', powerPct);
      begin();
      await drive.setPower(Math.max(-1, Math.min(1, powerPct)));
    },
    async setRPM({ rpm }) {
      const power = powerOf(rpm);
      begin();
      await drive.setPower(power);
    },
    async goFor({ rpm, revolutions }, { signal }) {
      const power = powerOf(rpm);
      if (position !== undefined) {
        await moveTo(position, (await position.read()) + Math.sign(rpm) * revolutions, Math.abs(power), signal);
        return;
      }
      const ms = (Math.abs(revolutions) / (Math.abs(power) * maxRpm)) * 60_000;
      await run(power * (Math.sign(revolutions) || 1), (own) => clock.sleep(ms, own), signal);
    },
    async goTo({ rpm, positionRevolutions }, { signal }) {
      await moveTo(needsPosition(), positionRevolutions, Math.abs(powerOf(rpm)), signal);
    },
    async resetZeroPosition({ offset }) {
      await needsPosition().calibrate(-offset);
    },
    getPosition: async () => ({ position: await needsPosition().read() }),
    getProperties: async () => ({ positionReporting: position !== undefined }),
    async stop() {
      begin();
      await drive.setPower(0);
    },
    isPowered: async () => ({ isOn: drive.power !== 0, powerPct: drive.power }),
    isMoving: async () => ({ isMoving: drive.power !== 0 }),
    doCommand: noCommands('gpio motors have no commands'),
    async close() {
      begin();
      await drive.setPower(0);
    },
  };
}
