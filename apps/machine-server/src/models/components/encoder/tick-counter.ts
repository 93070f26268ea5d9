/** Shared code of encoders that count the ticks of a board's digital interrupts. */
import { create } from '@bufbuild/protobuf';
import { type Clock, errorText, inBackground, type Log, unavailable, unimplemented } from '@platform/base';
import { StreamTicksRequestSchema } from '@platform/proto/platform/component/board/v1/board';
import { PositionType } from '@platform/proto/platform/component/encoder/v1/encoder';
import type { Board, Encoder } from '@platform/resources';
import { noCommands } from '../../no-commands.ts';

export interface TickCounterOptions {
  readonly board: Board;
  /** Names of digital interrupts. */
  readonly interrupts: readonly string[];
  /** How far the shaft has turned with this tick. */
  step(name: string, isHigh: boolean): number;
  readonly clock: Clock;
  readonly log: Log;
}

const retryMs = 1_000;

export function createTickCounter({ board, interrupts, step, clock, log }: TickCounterOptions): Encoder {
  let position = 0;
  let failure: string | undefined;
  const followed = inBackground(async (signal) => {
    while (!signal.aborted) {
      try {
        const ticks = board.streamTicks(create(StreamTicksRequestSchema, { pinNames: [...interrupts] }), { signal });
        for await (const { pinName = '', high = false } of ticks) {
          failure = undefined;
          position += step(pinName, high);
        }
        failure = 'the board ended its ticks';
      } catch (caught) {
        if (!signal.aborted) log.warn(`the ticks of ${interrupts.join(', ')} ended: ${errorText(caught)}`);
        failure = errorText(caught);
      }
      await clock.sleep(retryMs, signal).catch(() => {});
    }
  });
  return {
    async getPosition({ positionType = PositionType.TICKS_COUNT }) {
      if (failure !== undefined)
        throw unavailable(`this encoder counts no ticks: ${failure}; it tries again every second`);
      if (positionType === PositionType.ANGLE_DEGREES)
        throw unimplemented('this encoder has no angle in degrees: ask for its ticks');
      return { value: position, positionType: PositionType.TICKS_COUNT };
    },
    async resetPosition() {
      position = 0;
    },
    getProperties: async () => ({ ticksCountSupported: true, angleDegreesSupported: false }),
    doCommand: noCommands('this encoder has no commands'),
    async close() {
      await followed[Symbol.asyncDispose]();
    },
  };
}
