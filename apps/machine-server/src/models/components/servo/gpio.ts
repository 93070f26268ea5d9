/**
 * `core:builtin:gpio`: a hobby servo on a pin of a board; the width of its pulses determines its angle.
 *
 * Attributes: `board` (required), `pin` (required; of that board); `min_angle_deg` (default 0), `max_angle_deg` (180),
 * `starting_position_deg` (default: no pulses until the first move), `frequency_hz` (50), `min_width_us` (500) and `max_width_us` (2,500):
 * the pulse widths at the smallest and the largest angle. The angle is the last requested one: the servo does not report its own. With
 * software PWM, the angle trembles by a few degrees.
 */
import { failedPrecondition, invalidValue } from '@platform/base';
import { board as boardType, type Servo } from '@platform/resources';
import type { Model } from '../../../graph/model.ts';
import { readAttributes, required } from '../../attributes.ts';
import { dependencyOf, namedIn } from '../../dependency.ts';
import { noCommands } from '../../no-commands.ts';
import { boardPin } from '../board/board-pin.ts';

const fields = {
  board: { kind: 'string' },
  pin: { kind: 'string' },
  min_angle_deg: { kind: 'float', default: 0, min: 0, max: 360 },
  max_angle_deg: { kind: 'float', default: 180, min: 0, max: 360 },
  starting_position_deg: { kind: 'float', min: 0, max: 360 },
  frequency_hz: { kind: 'int', default: 50, min: 20, max: 450 },
  min_width_us: { kind: 'float', default: 500, min: 100, max: 10_000 },
  max_width_us: { kind: 'float', default: 2_500, min: 100, max: 10_000 },
} as const;

export const gpioServo: Model = {
  api: 'core:component:servo',
  model: 'core:builtin:gpio',
  fields,
  dependencies: namedIn('board'),
  async build({ attributes }, context): Promise<Servo> {
    const given = readAttributes(fields, attributes);
    const { min_angle_deg: least, max_angle_deg: most, min_width_us: narrow, max_width_us: wide } = given;
    const periodUs = 1e6 / given.frequency_hz;
    if (least >= most) throw invalidValue('attributes.max_angle_deg', `more than min_angle_deg (${least})`, most);
    if (narrow >= wide || wide >= periodUs)
      throw invalidValue(
        'attributes.max_width_us',
        `more than min_width_us (${narrow}) and less than the period (${periodUs})`,
        wide,
      );
    const pin = boardPin(
      dependencyOf(context, boardType, given.board, 'board'),
      required(given.pin, 'pin', 'a pin of the board'),
    );
    await pin.setFrequency(given.frequency_hz);
    let angle: number | undefined;
    const turn = async (to: number): Promise<void> => {
      const widthUs = narrow + ((to - least) / (most - least)) * (wide - narrow);
      await pin.setDuty(widthUs / periodUs);
      angle = to;
    };
    if (given.starting_position_deg !== undefined)
      await turn(Math.max(least, Math.min(most, given.starting_position_deg)));
    return {
      async move({ angleDeg }) {
        if (angleDeg < least || angleDeg > most) throw invalidValue('angle_deg', `${least} to ${most}`, angleDeg);
        await turn(angleDeg);
      },
      async getPosition() {
        if (angle === undefined)
          throw failedPrecondition(
            'the angle of this servo is unknown until its first move; set starting_position_deg',
          );
        return { positionDeg: Math.round(angle) };
      },
      async stop() {
        // Without pulses it holds no angle.
        await pin.setDuty(0);
      },
      // It does not report when it has arrived.
      isMoving: async () => ({ isMoving: false }),
      doCommand: noCommands('gpio servos have no commands'),
      async close() {
        await pin.setDuty(0);
      },
    };
  },
};
